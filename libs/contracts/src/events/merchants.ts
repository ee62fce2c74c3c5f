import type { Mode } from './credentials.js';
import { eventType } from './envelope.js';

/** Options that a merchant gives payers (specification, "Features"); every member optional, absent rather than null. */
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
 * The features that apply to a hosted session: a payer cannot change the amount of a shop's order. The webhook has only the
 * amount (E2), so the shop could not notice a partial payment or a tip.
 */
export function sessionFeatures({ orderReference }: MerchantFeatures): MerchantFeatures {
  return orderReference === undefined ? {} : { orderReference };
}

/** Reports that a merchant accepts from a partner (P6); by default none. */
export interface MerchantGrant {
  /** The partner. */
  organisationId: string;
  /** Parts of a payment covered by vouchers. */
  vouchers: boolean;
  /** Payments made elsewhere. */
  externalPayments: boolean;
}

/** Cents: the default minimum. */
export const DEFAULT_MINIMUM_AMOUNT = 100;

/** The platform's fee for each card payment of a merchant (M5). */
export interface FeeTerms {
  /** Part of the processed amount: 100 are one per cent. */
  basisPoints: number;
  /** Cents. */
  fixedAmount: number;
}

/** Fees of a merchant by mode; absent means no fee. */
export type MerchantFees = Partial<Record<Mode, FeeTerms>>;

/** One tenth of the processed amount. */
export const MAX_FEE_BASIS_POINTS = 1_000;
/** Cents. */
export const MAX_FEE_FIXED_AMOUNT = 10_000;

/** A complete merchant. Published by identity. */
export interface MerchantChanged {
  merchantId: number;
  name: string;
  features: MerchantFeatures;
  /**
   * Cents: the minimum that a payer may pay of a larger invoice if `amount.editable`. Not a feature, because decoding returns
   * features to every partner. Absent in events of earlier releases.
   */
  minimumAmount?: number;
  /** At most 100, one for each organisation. */
  grants: MerchantGrant[];
  /** Absent in events of earlier releases. */
  fees?: MerchantFees;
}
export const MerchantChangedV1 = eventType<MerchantChanged>('merchant.changed.v1');
