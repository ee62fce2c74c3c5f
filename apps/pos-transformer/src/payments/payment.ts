/** Converts a payment of the platform to the responses for tills (T6, T7, T9, T13). */
import type { MerchantPayment } from '@svc/sdk';

/** A final payment in the local store. */
export interface LocalPayment {
  /** Local number; the same after a restart (T7). */
  readonly paymentId: number;
  readonly payment: MerchantPayment;
}

/** The basket that a payment belongs to. */
export interface PaidBasket {
  readonly siteId: number;
  readonly reference: string;
  readonly isVoided: boolean;
}

/** Selects the payment that counts: a success before failures, a later payment before an earlier one (T7). */
export function selectDecisivePayment(payments: readonly LocalPayment[]): LocalPayment | undefined {
  const newestFirst = [...payments].sort((a, b) => b.paymentId - a.paymentId);
  return newestFirst.find(({ payment }) => payment.status === 'Success') ?? newestFirst[0];
}

/** All amounts are cents. */
export interface Amounts {
  /** The processed amount: the tendered amount minus all vouchers, or 0 if the payment failed. */
  readonly paid: number;
  readonly merchantVouchers: number;
  readonly genericVouchers: number;
  /** The amount that the merchant receives. */
  readonly merchant: number;
  /** The part of `merchant` that the service pays: vouchers for which the merchant is not liable. */
  readonly service: number;
}

export function calculateAmounts({ status, tenderedAmount, vouchers }: MerchantPayment): Amounts {
  const sumOf = (isMerchant: boolean): number =>
    vouchers.reduce((sum, { merchantLiable, amount }) => (merchantLiable === isMerchant ? sum + amount : sum), 0);
  const [merchantVouchers, genericVouchers] = [sumOf(true), sumOf(false)];
  const isSuccess = status === 'Success';
  const paid = isSuccess ? tenderedAmount - merchantVouchers - genericVouchers : 0;
  const service = isSuccess ? genericVouchers : 0;
  return { paid, merchantVouchers, genericVouchers, merchant: paid + service, service };
}

/**
 * Cents paid towards the invoiced amount, including vouchers but not the tip. If the merchant lets customers choose the
 * amount, the result may be less than the invoiced amount. A till must then treat the basket as unpaid, although the
 * payment succeeded.
 */
export function coveredAmount({ tenderedAmount, tipAmount }: MerchantPayment): number {
  return tenderedAmount - tipAmount;
}

/** "Invoice payment response" of the specification (T13). */
export interface InvoicePaymentResponse {
  Id: number;
  MerchantSiteId: number;
  ReceiptStatus: 'Paid' | 'Open' | 'Voided';
  PosReference: string;
  PaymentDate: string;
  SvcId: string;
  MerchantOrderId: string;
  InvoicedAmount: number;
  TipAmount: number;
  PaidAmount: number;
  TotalGenericVoucherAmount: number;
  TotalMerchantVoucherAmount: number;
  TotalVoucherAmount: number;
  SvcDiscountAmount: number;
  ServiceChargeAmount: number;
  DonationAmount: number;
  TableName: string;
  WaiterName: string;
  CustomerFullName: string;
  CurrencyIso: string;
  SlipData: string;
  PaymentStatus: 'Success' | 'Failed';
}

export function invoicePaymentResponse(
  basket: PaidBasket,
  { paymentId, payment }: LocalPayment,
): InvoicePaymentResponse {
  const { paid, merchantVouchers, genericVouchers } = calculateAmounts(payment);
  return {
    Id: paymentId,
    MerchantSiteId: basket.siteId,
    ReceiptStatus: receiptStatus(basket, payment),
    PosReference: basket.reference,
    PaymentDate: paymentDate(payment.paymentUTCDate),
    SvcId: payment.paymentReference,
    MerchantOrderId: basket.reference,
    InvoicedAmount: payment.invoicedAmount,
    TipAmount: payment.tipAmount,
    PaidAmount: paid,
    TotalGenericVoucherAmount: genericVouchers,
    TotalMerchantVoucherAmount: merchantVouchers,
    TotalVoucherAmount: genericVouchers + merchantVouchers,
    SvcDiscountAmount: 0,
    ServiceChargeAmount: 0,
    DonationAmount: 0,
    TableName: '',
    WaiterName: '',
    CustomerFullName: fullName(payment),
    CurrencyIso: payment.currencyISOCode,
    SlipData: '',
    PaymentStatus: payment.status === 'Success' ? 'Success' : 'Failed',
  };
}

/**
 * Values of the row `StatusId` in "Get payment response" of the specification. It specifies only `2`, and that any other
 * value means failed.
 */
const PAYMENT_STATUS_ID = { Success: '2', Failed: '5' } as const;

/** "Get payment response" of the specification (T6, T7, T9). */
export interface GetPaymentResponse {
  PaymentId: number;
  MerchantOrderId: string;
  PaymentDate: string;
  SvcId: string;
  PaidAmount: number;
  SvcAmount: number;
  MerchantAmount: number;
  CustomerFullName: string;
  CurrencyIso: string;
  StatusId: (typeof PAYMENT_STATUS_ID)[keyof typeof PAYMENT_STATUS_ID];
}

export function getPaymentResponse(basket: PaidBasket, { paymentId, payment }: LocalPayment): GetPaymentResponse {
  const { paid, merchant, service } = calculateAmounts(payment);
  return {
    PaymentId: paymentId,
    MerchantOrderId: basket.reference,
    PaymentDate: paymentDate(payment.paymentUTCDate),
    SvcId: payment.paymentReference,
    PaidAmount: paid,
    SvcAmount: service,
    MerchantAmount: merchant,
    CustomerFullName: fullName(payment),
    CurrencyIso: payment.currencyISOCode,
    StatusId: payment.status === 'Success' ? PAYMENT_STATUS_ID.Success : PAYMENT_STATUS_ID.Failed,
  };
}

function receiptStatus(basket: PaidBasket, { status }: MerchantPayment): InvoicePaymentResponse['ReceiptStatus'] {
  if (basket.isVoided) return 'Voided';
  return status === 'Success' ? 'Paid' : 'Open';
}

/** `yyyy-MM-dd'T'HH:mm:ss` in UTC (T6). */
export function paymentDate(paymentUTCDate: string): string {
  return new Date(paymentUTCDate).toISOString().slice(0, 19);
}

function fullName({ customer: { firstName, lastName } }: MerchantPayment): string {
  return `${firstName.trim()} ${lastName.trim()}`.trim();
}
