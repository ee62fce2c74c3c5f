/**
 * Verifies a payment webhook (E4, Standard Webhooks) on the merchant's server. It first checks the signature over the
 * raw bytes, then parses the body, then compares it with the merchant's order. A body is never parsed before its
 * signature was verified.
 *
 * A notification is delivered at least once (E8): apply each `paymentReference` once, and respond with any 2xx after
 * you have stored it.
 */
import { timingSafeEqual } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { describeClockError } from '../clock-error.js';
import {
  type HostedPayment,
  type HostedPaymentNotification,
  MalformedPaymentError,
  readHostedPaymentNotification,
} from '../hosted-payment.js';
import { type PaymentNotification, readPaymentNotification } from '../merchant/merchant-payment.js';

export type WebhookErrorCode =
  /** One of webhook-id, webhook-timestamp, webhook-signature is absent or unreadable. */
  | 'bad-headers'
  /** Signed longer ago than the tolerance, because of a replay or a wrong clock. */
  | 'too-old'
  /** Signed in the future, because of a wrong clock. */
  | 'too-new'
  /** None of the signatures was created with one of the secrets over these bytes. */
  | 'bad-signature'
  /** A secret is not `whsec_` and base64. */
  | 'bad-secret'
  /** Signed, but too large, not UTF-8, not JSON or not a payment notification. */
  | 'bad-body'
  | 'unexpected-order'
  | 'unexpected-amount'
  | 'unexpected-currency';

/**
 * The webhook is refused; `code` is the reason. Respond with 400, except for `bad-secret`, which is an error of your
 * configuration.
 */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
  constructor(
    readonly code: WebhookErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The order in your own database. */
export interface ExpectedPayment {
  /** Not needed if you have found the order by the payment's `merchantOrderId`. */
  merchantOrderId?: string;
  /** Integer cents. */
  amount: number;
  currencyISOCode: string;
}

/** A webhook request, with the data to verify it. */
export interface SignedRequest {
  /** The headers of the request: the object of Node.js, of Fetch or of a web framework. */
  headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The body exactly as received. JSON that was parsed and serialised again does not match the signature. */
  rawBody: string | Uint8Array;
  /** The site's `whsec_…` secret. */
  secret?: string;
  /** Several secrets of the site, during a rotation. */
  secrets?: readonly string[];
  /** The current time; default: the system clock. */
  now?: Date;
  /** Allowed difference between the signing time and now, in both directions; default 300. */
  toleranceSeconds?: number;
}

export interface VerifyWebhookInput extends SignedRequest {
  /**
   * The order with which the payment is compared after the signature was verified. Alternatively, look up the order and
   * use `assertExpectedPayment`.
   */
  expected?: ExpectedPayment;
}

const DEFAULT_TOLERANCE_SECONDS = 300;
/** Maximum size of a body (C6). */
const MAX_BODY_BYTES = 256 * 1024;
/** No rotation needs more signatures. The limit bounds the work that an attacker can cause. */
const MAX_SIGNATURES = 16;

/**
 * Verifies a notification to the notificationUrl of a session.
 *
 * @returns the notification, with enumerations as text (H4)
 * @throws WebhookVerificationError with a precise `code`
 */
export function verifyWebhook(input: VerifyWebhookInput): HostedPaymentNotification {
  const { body } = verifySigned(input);
  const notification = parseBody(body, readHostedPaymentNotification);
  if (input.expected) assertExpectedPayment(notification, input.expected);
  return notification;
}

/**
 * Verifies a notification to the webhook of a site (M6): a payment that became final, a refund, or a changed dispute. Apply each `id` once.
 *
 * @returns undefined for a test message, and for a type of a later release: respond to them with 2xx
 * @throws WebhookVerificationError with a precise `code`
 */
export function verifySiteWebhook(input: SignedRequest): PaymentNotification | undefined {
  const { id, body } = verifySigned(input);
  return parseBody(body, (value) => readPaymentNotification(id, value));
}

function verifySigned(input: SignedRequest): { id: string; body: string } {
  const body = readBody(input.rawBody);
  const id = readHeader(input.headers, 'webhook-id');
  const signedAt = readTimestamp(readHeader(input.headers, 'webhook-timestamp'));
  checkAge(signedAt, input, () => isSigned(input, id, signedAt, body));
  if (!isSigned(input, id, signedAt, body)) {
    throw new WebhookVerificationError(
      'bad-signature',
      'No signature matches the body and the secret. Pass the body as it was received, before any JSON parser, and the secret of the site and mode',
    );
  }
  return { id, body };
}

/** Whether one of the signatures was created with one of the secrets. @throws WebhookVerificationError */
function isSigned(input: SignedRequest, id: string, signedAt: Date, body: string): boolean {
  const signatures = readHeader(input.headers, 'webhook-signature').split(' ').slice(0, MAX_SIGNATURES);
  return createSigners(input).some((signer) => {
    const expected = Buffer.from(signer.sign(id, signedAt, body));
    return signatures.some((signature) => isEqual(Buffer.from(signature), expected));
  });
}

/**
 * Compares a verified payment with your own record of the order. A signature proves only who sent the notification. It
 * does not prove that the payment is for the order that you are about to mark as paid.
 *
 * @throws WebhookVerificationError `unexpected-order`, `unexpected-amount` or `unexpected-currency`
 * @throws TypeError if the amount or the currency of the order is missing, so that a misspelled field fails
 */
export function assertExpectedPayment(payment: HostedPayment, expected: ExpectedPayment): void {
  const { amount, currencyISOCode } = expected as Partial<ExpectedPayment>;
  if (amount === undefined) throw new TypeError("expected.amount is missing: pass the order's amount in integer cents");
  if (currencyISOCode === undefined)
    throw new TypeError("expected.currencyISOCode is missing: pass the order's currency");
  if (expected.merchantOrderId !== undefined && payment.merchantOrderId !== expected.merchantOrderId) {
    throw new WebhookVerificationError('unexpected-order', 'The payment is for another order');
  }
  if (payment.amount !== amount) {
    throw new WebhookVerificationError('unexpected-amount', "The payment's amount is not the order's");
  }
  if (payment.currencyISOCode !== currencyISOCode) {
    throw new WebhookVerificationError('unexpected-currency', "The payment's currency is not the order's");
  }
}

function readBody(rawBody: string | Uint8Array): string {
  if (typeof rawBody !== 'string' && !(rawBody instanceof Uint8Array)) {
    throw new WebhookVerificationError(
      'bad-body',
      'rawBody must be the bytes as received, not a parsed object: read the body before any JSON parser does',
    );
  }
  if (Buffer.byteLength(rawBody) > MAX_BODY_BYTES)
    throw new WebhookVerificationError('bad-body', 'The body is too large');
  if (typeof rawBody === 'string') return rawBody;
  try {
    // The decoder is strict and does not remove a byte order mark. Otherwise different bytes could decode to the signed
    // text.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(rawBody);
  } catch (cause) {
    throw new WebhookVerificationError('bad-body', 'The body is not UTF-8', { cause });
  }
}

function readHeader(headers: SignedRequest['headers'], name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : findHeader(headers, name);
  if (typeof value !== 'string' || value === '' || value.length > 4096) {
    throw new WebhookVerificationError('bad-headers', `The header ${name} is missing or unreadable`);
  }
  return value;
}

function findHeader(headers: Readonly<Record<string, string | readonly string[] | undefined>>, name: string): unknown {
  const value = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  return Array.isArray(value) && value.length === 1 ? (value[0] as unknown) : value;
}

function readTimestamp(text: string): Date {
  if (!/^\d{1,11}$/.test(text)) throw new WebhookVerificationError('bad-headers', 'webhook-timestamp is not a time');
  return new Date(Number(text) * 1000);
}

// The library's verify() compares the time only with the system clock. Therefore the time is checked here, and only
// sign() is used.
function checkAge(signedAt: Date, input: SignedRequest, isSignatureRight: () => boolean): void {
  const age = (input.now ?? new Date()).getTime() - signedAt.getTime();
  const tolerance = (input.toleranceSeconds ?? DEFAULT_TOLERANCE_SECONDS) * 1000;
  // If a setting is missing, the tolerance or the time is NaN, and every comparison with NaN is false. Therefore the
  // comparison is negated: every webhook is then refused.
  if (Math.abs(age) <= tolerance) return;
  const [code, when] = age < 0 ? (['too-new', 'in the future'] as const) : (['too-old', 'too long ago'] as const);
  // The message contains the difference, because a wrong clock causes the same difference for every webhook, but a
  // replay does not.
  const difference = `${Math.round(Math.abs(age) / 1000)} s from the present time, of which ${tolerance / 1000} s are accepted`;
  throw new WebhookVerificationError(
    code,
    `The webhook was signed ${when}: ${difference}. ${suggestReason(code, input, isSignatureRight)}`,
  );
}

/** The platform signs each attempt with its present time. Therefore only a wrong clock or a replay is out of time. */
function suggestReason(code: 'too-old' | 'too-new', input: SignedRequest, isSignatureRight: () => boolean): string {
  const clockError = input.now === undefined ? describeClockError() : undefined;
  if (clockError !== undefined) return clockError;
  try {
    if (!isSignatureRight()) return 'Is the clock of this server right?';
  } catch {
    return 'Is the clock of this server right?';
  }
  return code === 'too-new'
    ? 'Its signature is right, so the clock of this server is behind by this difference: set it to the right time'
    : 'Its signature is right: either the clock of this server is ahead by this difference, or an old request was repeated';
}

function createSigners(input: SignedRequest): Signer[] {
  const secrets = [...(input.secrets ?? []), ...(input.secret === undefined ? [] : [input.secret])];
  if (secrets.length === 0)
    throw new WebhookVerificationError(
      'bad-secret',
      'No webhook secret was given: check the setting that it comes from',
    );
  return secrets.map(createSigner);
}

/** The one method of `standardwebhooks` that is used. The types of that package would require those of Node.js in the user's project. */
interface Signer {
  sign(id: string, signedAt: Date, body: string): string;
}

/** @throws WebhookVerificationError `bad-secret` */
export function createSigner(secret: string): Signer {
  try {
    return new Webhook(secret);
  } catch (cause) {
    throw new WebhookVerificationError(
      'bad-secret',
      'A webhook secret is not whsec_ and base64: copy the complete secret, as shown at its creation',
      { cause },
    );
  }
}

function isEqual(actual: Buffer, expected: Buffer): boolean {
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}

function parseBody<T>(body: string, read: (value: unknown) => T): T {
  try {
    return read(JSON.parse(body));
  } catch (cause) {
    const reason = cause instanceof MalformedPaymentError ? cause.message : 'The body is not JSON';
    throw new WebhookVerificationError('bad-body', reason, { cause });
  }
}
