import { MAX_AMOUNT_CENTS } from '../validation.js';
import {
  hasRight,
  isRole,
  maxRefundCents,
  type Right,
  type Role,
  type RoleGrant,
  ROLES,
  ROLES_WITH_RIGHT,
  sitesWithRight,
  SUPPORT_MAX_REFUND_CENTS,
} from './rights.js';

const RIGHTS = Object.keys(ROLES_WITH_RIGHT) as Right[];
const MERCHANT = { merchantId: 1001 };
const SITE = { merchantId: 1001, siteId: 5001 };
const grantAt = (scope: { merchantId: number; siteId?: number }, role: Role): RoleGrant => ({ ...scope, role });

test.each<[Role, Right[]]>([
  ['owner', RIGHTS],
  [
    'finance',
    [
      'payments.read',
      'customers.read',
      'refunds.create',
      'disputes.read',
      'settlements.read',
      'exports.read',
      'receipts.send',
      'sessions.read',
      'payment-requests.create',
      'settings.read',
    ],
  ],
  [
    'support',
    [
      'payments.read',
      'customers.read',
      'refunds.create',
      'disputes.read',
      'receipts.send',
      'sessions.read',
      'payment-requests.create',
      'deliveries.read',
      'deliveries.resend',
    ],
  ],
  [
    'developer',
    [
      'payments.read',
      'sessions.read',
      'deliveries.read',
      'deliveries.resend',
      'keys.read',
      'keys.manage',
      'webhooks.manage',
      'settings.read',
    ],
  ],
])('the role %s has exactly these rights', (role, rights) => {
  expect(RIGHTS.filter((right) => hasRight([grantAt(MERCHANT, role)], right, MERCHANT))).toEqual(rights);
});

test('a role of a merchant is valid for its sites, and for no other merchant', () => {
  const grants = [grantAt(MERCHANT, 'owner')];
  expect(hasRight(grants, 'people.manage', SITE)).toBe(true);
  expect(hasRight(grants, 'people.manage', { merchantId: 1002 })).toBe(false);
  expect(hasRight(grants, 'people.manage', { merchantId: 1002, siteId: 5001 })).toBe(false);
});

test('a role of a site is valid neither for the whole merchant nor for another site', () => {
  const grants = [grantAt(SITE, 'owner')];
  expect(hasRight(grants, 'people.manage', SITE)).toBe(true);
  expect(hasRight(grants, 'people.manage', MERCHANT)).toBe(false);
  expect(hasRight(grants, 'people.manage', { merchantId: 1001, siteId: 5002 })).toBe(false);
  expect(hasRight(grants, 'people.manage', { merchantId: 1002, siteId: 5001 })).toBe(false);
});

test('several roles add up', () => {
  const grants = [grantAt(MERCHANT, 'developer'), grantAt(SITE, 'finance')];
  expect(hasRight(grants, 'keys.manage', MERCHANT)).toBe(true);
  expect(hasRight(grants, 'settlements.read', SITE)).toBe(true);
  expect(hasRight(grants, 'settlements.read', MERCHANT)).toBe(false);
});

test('without a role there is no right', () => {
  expect(RIGHTS.filter((right) => hasRight([], right, MERCHANT))).toEqual([]);
});

test('sitesWithRight returns all, or the sites of the merchant in ascending order', () => {
  const grants = [
    grantAt({ merchantId: 1001, siteId: 5003 }, 'support'),
    grantAt({ merchantId: 1001, siteId: 5002 }, 'finance'),
    grantAt({ merchantId: 1001, siteId: 5003 }, 'owner'),
    grantAt({ merchantId: 1002, siteId: 5009 }, 'support'),
    grantAt({ merchantId: 1003 }, 'developer'),
  ];
  expect(sitesWithRight(grants, 'refunds.create', 1001)).toEqual([5002, 5003]);
  expect(sitesWithRight(grants, 'settlements.read', 1002)).toEqual([]);
  expect(sitesWithRight(grants, 'payments.read', 1003)).toBe('all');
  expect(sitesWithRight(grants, 'customers.read', 1003)).toEqual([]);
});

test('maxRefundCents is the highest limit of the roles that are valid for the payment', () => {
  expect(maxRefundCents([grantAt(MERCHANT, 'support')], SITE)).toBe(SUPPORT_MAX_REFUND_CENTS);
  expect(maxRefundCents([grantAt(MERCHANT, 'support'), grantAt(SITE, 'finance')], SITE)).toBe(MAX_AMOUNT_CENTS);
  expect(maxRefundCents([grantAt(MERCHANT, 'owner')], SITE)).toBe(MAX_AMOUNT_CENTS);
  expect(maxRefundCents([grantAt(MERCHANT, 'developer')], SITE)).toBe(0);
  expect(maxRefundCents([grantAt(SITE, 'finance')], { merchantId: 1001, siteId: 5002 })).toBe(0);
});

test('isRole accepts exactly the roles', () => {
  expect([...ROLES, 'admin', '', undefined, 1].filter(isRole)).toEqual([...ROLES]);
});
