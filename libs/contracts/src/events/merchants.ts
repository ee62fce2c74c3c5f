import type { Mode } from './credentials.js';
import { eventType } from './envelope.js';
import type { TimeZonePeriod } from './time-zones.js';

/**
 * Options that a merchant offers to payers (specification, "Features"). Every member is optional, and absent rather
 * than null.
 */
export interface MerchantFeatures {
  amount?: { editable?: boolean };
  orderReference?: {
    /** The merchant's own label. */
    label?: string;
    editable?: boolean;
    /** A payment without orderReference is refused (P6). */
    required?: boolean;
  };
  tip?: { enabled?: boolean };
}

/**
 * Leaves only the features that a payer of a hosted session may use. The payer of a shop's order cannot change the amount and cannot add a tip,
 * because the webhook contains only the amount (E2). The shop could not notice a partial payment or a tip.
 */
export function restrictToSessionFeatures({ orderReference }: MerchantFeatures): MerchantFeatures {
  return orderReference === undefined ? {} : { orderReference };
}

/** The kinds of payment that a merchant allows a partner to report (P6); by default none. */
export interface MerchantGrant {
  /** Organisation of the partner. */
  organisationId: string;
  /** Parts of a payment covered by vouchers. */
  vouchers: boolean;
  /** Payments that were made outside the platform. */
  externalPayments: boolean;
}

/** Default of `minimumAmount`, in cents. */
export const DEFAULT_MINIMUM_AMOUNT = 100;

/** Maximum of an edited amount, as a multiple of the amount due, if the merchant has no `maximumAmount`. */
const DEFAULT_MAXIMUM_FACTOR = 10;
/** Maximum of an edited amount, in cents, if the merchant has no `maximumAmount`. */
const DEFAULT_MAXIMUM_AMOUNT = 5_000_000;

/** A merchant's settings for edited amounts, in cents. */
export interface AmountTerms {
  readonly minimumAmount: number;
  /** Null if the default applies: ten times the amount due, but at most R 50 000. */
  readonly maximumAmount?: number | null | undefined;
}

/** The amounts that a payer may choose for one payable, in cents. */
export interface AmountLimits {
  readonly min: number;
  readonly max: number;
  readonly tipMax: number;
}

/**
 * The limits of an edited amount and of a tip (P6). A payer can always pay exactly the amount due, whatever the
 * merchant's minimum and maximum are.
 *
 * @param amountDue cents
 */
export function computeAmountLimits(amountDue: number, { minimumAmount, maximumAmount }: AmountTerms): AmountLimits {
  const defaultMaximum = Math.min(DEFAULT_MAXIMUM_FACTOR * amountDue, DEFAULT_MAXIMUM_AMOUNT);
  return {
    min: Math.min(amountDue, minimumAmount),
    max: Math.max(amountDue, maximumAmount ?? defaultMaximum),
    tipMax: amountDue,
  };
}

/** The platform's fee for each card payment of a merchant (M5). */
export interface FeeTerms {
  /** Hundredths of a per cent of the processed amount. */
  basisPoints: number;
  /** Cents. */
  fixedAmount: number;
}

/** Fees of a merchant by mode; absent means no fee. */
export type MerchantFees = Partial<Record<Mode, FeeTerms>>;

/** 10 % of the processed amount. */
export const MAX_FEE_BASIS_POINTS = 1_000;
/** Cents. */
export const MAX_FEE_FIXED_AMOUNT = 10_000;

/** The complete state of a merchant. Published by identity. */
export interface MerchantChanged {
  merchantId: number;
  name: string;
  features: MerchantFeatures;
  /**
   * The minimum, in cents, that a payer may pay of a larger invoice if `amount.editable`. It is not part of `features`,
   * because decoding a code returns the features to every partner.
   */
  minimumAmount: number;
  /**
   * The maximum, in cents, that a payer may pay of a smaller invoice if `amount.editable`. Absent if the merchant has
   * none: then the maximum is ten times the amount due, but at most R 50 000. Like the minimum it is not part of
   * `features`.
   */
  maximumAmount?: number;
  /** At most 100 grants, one for each organisation. */
  grants: MerchantGrant[];
  fees: MerchantFees;
  /** The time zones of the merchant's days (M7): at least one, at most 100. A later `from` may be in the future. */
  timeZones: TimeZonePeriod[];
}
export const MerchantChangedV1 = eventType<MerchantChanged>('merchant.changed.v1');
