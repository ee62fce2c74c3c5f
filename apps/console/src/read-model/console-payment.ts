import type {
  Mode,
  PayableSource,
  PaymentError,
  PaymentMethodType,
  PaymentSnapshot,
  PaymentState,
} from '@svc/contracts';

/** A payment as the console lists it. Amounts are integers in cents. */
export interface ConsolePayment {
  /** Service payment id (C3). */
  readonly paymentReference: string;
  readonly merchantId: number;
  readonly mode: Mode;
  readonly siteId: number;
  /** The till at the time of the payment. Empty if there is none. */
  readonly siteReference: string;
  readonly paymentUTCDate: string;
  readonly modifiedUTCDate: string;
  readonly state: Exclude<PaymentState, 'processing'>;
  readonly currency: string;
  /** With the tip. */
  readonly amount: number;
  readonly tipAmount: number;
  /** What the card was charged; 0 unless the payment succeeded. */
  readonly processedAmount: number;
  readonly method: PaymentMethodType;
  /** Masked, for example `**** 4242`. */
  readonly methodLabel: string;
  /** The last four digits of the card; empty without a card. */
  readonly lastDigits: string;
  /** The order number of a session, or the external reference of an invoice; empty if there is none. */
  readonly orderReference: string;
  /** UUID of the session or invoice. */
  readonly payableId: string;
  readonly source: PayableSource['kind'];
  /** The 20 digits of the code (D5). */
  readonly code: string;
  /** Whether a partner's app made the payment, instead of the payer on our page. */
  readonly isOfPartner: boolean;
  /** The customer as the partner sent it; empty for an anonymous payer. */
  readonly customerId: string;
  readonly customerName: string;
  /** Why the payment failed. */
  readonly errors: readonly PaymentError[];
}

const LAST_DIGITS = /(?<digits>\d{4})$/;

/** @returns undefined while the payment is in progress */
export function toConsolePayment(snapshot: PaymentSnapshot): ConsolePayment | undefined {
  const { state, source, partner, payable, paymentMethodType: method, paymentMethodLabel: methodLabel } = snapshot;
  if (state === 'processing') return undefined;
  const { id: customerId = '', firstName = '', lastName = '' } = partner?.customer ?? {};
  return {
    paymentReference: snapshot.paymentReference,
    merchantId: snapshot.merchantId,
    mode: snapshot.mode,
    siteId: snapshot.siteId,
    siteReference: snapshot.siteReference,
    paymentUTCDate: snapshot.paymentUTCDate,
    modifiedUTCDate: snapshot.modifiedUTCDate,
    state,
    currency: snapshot.currencyISOCode,
    amount: snapshot.amount + snapshot.tipAmount,
    tipAmount: snapshot.tipAmount,
    processedAmount: snapshot.processedAmount,
    method,
    methodLabel,
    lastDigits: method === 'Card' ? (LAST_DIGITS.exec(methodLabel)?.groups?.['digits'] ?? '') : '',
    orderReference: (source.kind === 'session' ? source.merchantOrderId : source.externalReference) ?? '',
    payableId: payable.payableId,
    source: source.kind,
    code: source.code,
    isOfPartner: partner !== undefined,
    customerId,
    customerName: `${firstName} ${lastName}`.trim(),
    errors: snapshot.errors,
  };
}
