/**
 * The merchant payment retrieval model, with the fields that M1 adds (specification, "Payment notification (merchant
 * payment retrieval model)").
 */
export interface PaymentNotification {
  /** Invoice reference of the service. */
  invoiceReference: string;
  /** Merchant's invoice reference; for a hosted payment its merchantOrderId (M1). */
  invoiceExternalReference: string;
  currencyISOCode: string;
  /** Cents. */
  invoicedAmount: number;
  /** Service payment id (C3). */
  paymentReference: string;
  /** ISO 8601 UTC with milliseconds (C2). */
  paymentUTCDate: string;
  /** Cents. */
  tipAmount: number;
  /** Total tendered by the customer, including tips and vouchers; cents. */
  tenderedAmount: number;
  /** Point-of-sale till identifier. */
  siteReference: string;
  /** Number on the wire: 1 = Success, 2 = Failed ({@link PaymentStatus}). */
  status: number;
  vouchers: Voucher[];
  customer: MerchantCustomer;
  siteId: number;
}

/** Specification, "Voucher". */
export interface Voucher {
  merchantLiable: boolean;
  /** Cents. */
  amount: number;
}

/** Specification, "Customer (merchant model)". Empty text when unknown (P3). */
export interface MerchantCustomer {
  firstName: string;
  lastName: string;
}
