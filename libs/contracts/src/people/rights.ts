import { MAX_AMOUNT_CENTS } from '../validation.js';

/** The roles of people at a merchant, from the one with all rights. */
export const ROLES = ['owner', 'finance', 'support', 'developer'] as const;
export type Role = (typeof ROLES)[number];

/**
 * The table of rights: the roles that have each right. It is the only definition of what a role may do; identity and the
 * console both read it.
 */
export const ROLES_WITH_RIGHT = {
  /** Payments, their attempts and refunds, without personal data of the payer. */
  'payments.read': ['owner', 'finance', 'support', 'developer'],
  /** Names, emails and other personal data of payers. */
  'customers.read': ['owner', 'finance', 'support'],
  /** Refunds, up to {@link maxRefundCents}. */
  'refunds.create': ['owner', 'finance', 'support'],
  'disputes.read': ['owner', 'finance', 'support'],
  /** Settlements, payouts and fees. */
  'settlements.read': ['owner', 'finance'],
  /** CSV files. */
  'exports.read': ['owner', 'finance'],
  /** Sends a receipt to the payer again. */
  'receipts.send': ['owner', 'finance', 'support'],
  /** Sessions, invoices and payment requests. */
  'sessions.read': ['owner', 'finance', 'support', 'developer'],
  'payment-requests.create': ['owner', 'finance', 'support'],
  /** Deliveries of webhooks, with their attempts. */
  'deliveries.read': ['owner', 'support', 'developer'],
  'deliveries.resend': ['owner', 'support', 'developer'],
  /** Names and prefixes of API keys and webhook secrets, never the secrets themselves. */
  'keys.read': ['owner', 'developer'],
  'keys.manage': ['owner', 'developer'],
  /** The webhook address of a site, and whether it receives webhooks. */
  'webhooks.manage': ['owner', 'developer'],
  /** All other settings of the merchant and of a site, with its protection against card testing. */
  'settings.read': ['owner', 'finance', 'developer'],
  'settings.manage': ['owner'],
  /** The people of the merchant, with their roles. */
  'people.read': ['owner'],
  /** Invites people, changes and removes their roles. */
  'people.manage': ['owner'],
} as const satisfies Readonly<Record<string, readonly Role[]>>;

export type Right = keyof typeof ROLES_WITH_RIGHT;

/** A role of a person at a merchant, or only at one of its sites. */
export interface RoleGrant {
  merchantId: number;
  /** Absent: the role is valid for the merchant and for each of its sites. */
  siteId?: number;
  role: Role;
}

/** What a right is needed for: a site of a merchant, or the whole merchant. */
export interface RightScope {
  readonly merchantId: number;
  readonly siteId?: number | undefined;
}

/**
 * Whether one of the grants gives the right. A grant of a site gives nothing for the whole merchant, and nothing for
 * another site.
 */
export function hasRight(grants: readonly RoleGrant[], right: Right, scope: RightScope): boolean {
  return grants.some((grant) => isRoleWithRight(grant.role, right) && covers(grant, scope));
}

/**
 * The part of a merchant for which the grants give the right: `all` its sites, or the sites with these ids, in ascending
 * order. A list without elements means that the person has the right nowhere at this merchant.
 */
export function sitesWithRight(grants: readonly RoleGrant[], right: Right, merchantId: number): 'all' | number[] {
  if (hasRight(grants, right, { merchantId })) return 'all';
  const siteIds = grants.flatMap((grant) =>
    grant.merchantId === merchantId && grant.siteId !== undefined && isRoleWithRight(grant.role, right)
      ? [grant.siteId]
      : [],
  );
  return [...new Set(siteIds)].sort((a, b) => a - b);
}

/** Most that a person of the role support may refund of one payment, in cents: R 1 000. */
export const SUPPORT_MAX_REFUND_CENTS = 100_000;

/**
 * Most that a person may refund of one payment without a new confirmation, in cents: R 1 000, all refunds of the payment
 * together. For more the person signs in or confirms within the ten minutes before.
 */
export const MAX_UNCONFIRMED_REFUND_CENTS = 100_000;

/**
 * Most that the person may refund of one payment, in cents: all refunds of the payment together, with those that were
 * made before. 0 if the person may not refund it at all.
 */
export function maxRefundCents(grants: readonly RoleGrant[], scope: RightScope): number {
  const limits = grants.flatMap((grant) =>
    isRoleWithRight(grant.role, 'refunds.create') && covers(grant, scope)
      ? [grant.role === 'support' ? SUPPORT_MAX_REFUND_CENTS : MAX_AMOUNT_CENTS]
      : [],
  );
  return Math.max(0, ...limits);
}

export function isRole(value: unknown): value is Role {
  return ROLES.includes(value as Role);
}

function isRoleWithRight(role: Role, right: Right): boolean {
  return (ROLES_WITH_RIGHT[right] as readonly Role[]).includes(role);
}

function covers(grant: RoleGrant, scope: RightScope): boolean {
  return grant.merchantId === scope.merchantId && (grant.siteId === undefined || grant.siteId === scope.siteId);
}
