/**
 * The hosted payment in responses and webhooks (H3 and H4 in docs/requirements), and its parser. The parser accepts
 * text and numbers for enumerations, because the specification allows both. It is strict for all other fields.
 */

/** Result of a payment: `Success` (1) or `Failed` (2). */
export type PaymentStatus = 'Success' | 'Failed';

/** Status of the API call: any value but `Success` is an error of the call, not of the payment. */
export type ResponseStatus = 'Success' | 'BadRequest' | 'NotFound' | 'Unauthorized' | 'InternalServer';

export interface ApiErrorItem {
  /** Text for people. Programs must branch on statuses, never on this text. */
  message: string;
  /** Identifier to quote to support, e.g. `22`; only in errors of the main API. */
  errorReference?: string;
  /** Name of the invalid field; only in errors of the main API. */
  field?: string;
}

/** One final payment of a hosted session ("webhook model" of the interface specification, without its signature). */
export interface HostedPayment {
  sessionId: string;
  /** Integer cents. */
  amount: number;
  /** ISO 4217; only ZAR is supported. */
  currencyISOCode: string;
  /** Your order reference, as sent when the session was created. */
  merchantOrderId: string;
  /** The service's payment id, 18 characters (C3). Apply each payment id once. */
  paymentReference: string;
  paymentStatus: PaymentStatus;
  /** Message for the payer; only when paymentStatus is not Success. */
  userMessage?: string;
  /** ISO 8601 UTC with milliseconds (C2). */
  paymentUTCDate: string;
  status: ResponseStatus;
  /** Only when status is not Success. */
  errors?: ApiErrorItem[];
  /** Masked label of the payment method ("**** 0002"); in API responses, not in webhooks. */
  paymentMethod?: string;
}

/** The body of a payment webhook. */
export interface HostedPaymentNotification extends HostedPayment {
  /** Lower-case hex SHA-256 (E3); see `verifyLegacySignature`. */
  signature: string;
}

const PAYMENT_STATUSES: readonly PaymentStatus[] = ['Success', 'Failed'];
const RESPONSE_STATUSES: readonly ResponseStatus[] = [
  'Success',
  'BadRequest',
  'NotFound',
  'Unauthorized',
  'InternalServer',
];

/** The largest amount of the platform, in cents (C1). */
export const MAX_AMOUNT_CENTS = 100_000_000_000;

/** A body that does not match the specification. `field` is the name of the wrong field. */
export class MalformedPaymentError extends Error {
  override readonly name = 'MalformedPaymentError';
  constructor(readonly field: string) {
    super(`${field} is missing or malformed`);
  }
}

/** Parses one hosted payment. Enumerations may be text or numbers (H4). Unknown fields are omitted. */
export function readHostedPayment(value: unknown): HostedPayment {
  const body = readObject(value, 'payment');
  const payment: HostedPayment = {
    sessionId: readText(body, 'sessionId'),
    amount: readWholeNumber(body, 'amount', MAX_AMOUNT_CENTS),
    currencyISOCode: readText(body, 'currencyISOCode'),
    merchantOrderId: readText(body, 'merchantOrderId'),
    paymentReference: readText(body, 'paymentReference'),
    paymentStatus: readPaymentStatus(body, 'paymentStatus'),
    paymentUTCDate: readText(body, 'paymentUTCDate'),
    status: readEnum(body, 'status', RESPONSE_STATUSES),
  };
  if (body['userMessage'] !== undefined && body['userMessage'] !== null) {
    payment.userMessage = readText(body, 'userMessage');
  }
  if (body['paymentMethod'] !== undefined) payment.paymentMethod = readText(body, 'paymentMethod');
  const errors = readErrors(body['errors']);
  if (errors.length > 0) payment.errors = errors;
  return payment;
}

/** Parses a webhook body; see `readHostedPayment`. */
export function readHostedPaymentNotification(value: unknown): HostedPaymentNotification {
  const body = readObject(value, 'notification');
  return { ...readHostedPayment(body), signature: readText(body, 'signature') };
}

/** Parses the `errors` of an envelope or a problem (RFC 9457). Entries without a message are omitted. */
export function readErrors(value: unknown): ApiErrorItem[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((item: unknown) => {
    const { message, errorReference, field } = (item ?? {}) as Record<string, unknown>;
    if (typeof message !== 'string') return [];
    return [
      {
        message,
        ...(typeof errorReference === 'string' ? { errorReference } : {}),
        ...(typeof field === 'string' ? { field } : {}),
      },
    ];
  });
}

export function readObject(value: unknown, field: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new MalformedPaymentError(field);
  return value as Record<string, unknown>;
}

/** Converts a status, which may be text or a number (H4), to text. Returns undefined for other values. */
export function readResponseStatus(value: unknown): ResponseStatus | undefined {
  return parseEnum(value, RESPONSE_STATUSES);
}

export function readText(body: Record<string, unknown>, field: string): string {
  const value = body[field];
  if (typeof value !== 'string') throw new MalformedPaymentError(field);
  return value;
}

/**
 * A whole number from 0 to `max`. "100" and 100.5 are refused, not converted, because an order may contain only exact
 * cents.
 */
export function readWholeNumber(body: Record<string, unknown>, field: string, max: number): number {
  const value = body[field] as number;
  if (!Number.isInteger(value) || value < 0 || value > max) throw new MalformedPaymentError(field);
  return value;
}

/** The field may be text or a number (H4). */
export function readPaymentStatus(body: Record<string, unknown>, field: string): PaymentStatus {
  return readEnum(body, field, PAYMENT_STATUSES);
}

function readEnum<T extends string>(body: Record<string, unknown>, field: string, values: readonly T[]): T {
  const text = parseEnum(body[field], values);
  if (text === undefined) throw new MalformedPaymentError(field);
  return text;
}

/** Converts an enumeration value to text. The numbers begin with 1, in the order of the specification. */
function parseEnum<T extends string>(value: unknown, values: readonly T[]): T | undefined {
  if (typeof value === 'number') return values[value - 1];
  return values.find((candidate) => candidate === value);
}
