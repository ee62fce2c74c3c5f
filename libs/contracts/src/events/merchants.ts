import type { Mode } from './credentials.js';
import { eventType } from './envelope.js';

/** What a merchant lets payers do (specification, "Features"); every member optional, absent rather than null. */
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
 * What of it counts for a hosted session: a shop's order is paid as it stands. The shop is told of its amount alone (E2),
 * so it would take an order for paid that was paid in part, and would never hear of a tip.
 */
export function sessionFeatures({ orderReference }: MerchantFeatures): MerchantFeatures {
  return orderReference === undefined ? {} : { orderReference };
}

/** What a merchant takes a partner's word for (P6); nothing that is not granted. */
export interface MerchantGrant {
  /** The partner. */
  organisationId: string;
  /** Parts of a payment covered by vouchers. */
  vouchers: boolean;
  /** Payments made elsewhere. */
  externalPayments: boolean;
}

/** Cents: the minimum of a merchant that has not set one. */
export const DEFAULT_MINIMUM_AMOUNT = 100;

/** What the service charges a merchant for each card payment (M5). */
export interface FeeTerms {
  /** Of the processed amount: 100 are one per cent. */
  basisPoints: number;
  /** Cents. */
  fixedAmount: number;
}

/** Fees of a merchant by mode; none where they are absent. */
export type MerchantFees = Partial<Record<Mode, FeeTerms>>;

/** One tenth of the processed amount. */
export const MAX_FEE_BASIS_POINTS = 1_000;
/** Cents. */
export const MAX_FEE_FIXED_AMOUNT = 10_000;

/** A merchant, whole. Published by identity. */
export interface MerchantChanged {
  merchantId: number;
  name: string;
  features: MerchantFeatures;
  /**
   * Cents: the least a payer may pay of a larger invoice where `amount.editable`. No feature, because decoding shows those
   * to every partner. Absent from events of releases that did not know it.
   */
  minimumAmount?: number;
  /** At most 100, one for each organisation. */
  grants: MerchantGrant[];
  /** Absent from events of releases that did not know it. */
  fees?: MerchantFees;
}
export const MerchantChangedV1 = eventType<MerchantChanged>('merchant.changed.v1');
