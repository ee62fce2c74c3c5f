import type { Mode } from './credentials.js';
import { eventType } from './envelope.js';

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
 * The features that apply to a hosted session. A payer of a shop's order cannot change the amount and cannot add a tip,
 * because the webhook contains only the amount (E2). The shop could not notice a partial payment or a tip.
 */
export function sessionFeatures({ orderReference }: MerchantFeatures): MerchantFeatures {
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
   * because decoding a code returns the features to every partner. Absent in events of earlier releases.
   */
  minimumAmount?: number;
  /** At most 100 grants, one for each organisation. */
  grants: MerchantGrant[];
  /** Absent in events of earlier releases. */
  fees?: MerchantFees;
}
export const MerchantChangedV1 = eventType<MerchantChanged>('merchant.changed.v1');
