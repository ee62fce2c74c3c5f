import { isText, MAX_IDENTIFIER_LENGTH } from '@svc/contracts';
import { maskNumbers } from '@svc/persistence/transaction';
import type { ChargeOutcome, ChargeTerms, DeclineCode } from '../acquirer.js';
import type { AdyenResponse } from './adyen-client.js';
import { isAdyenUrl } from './adyen-url.js';
import { CANCELLED, declineCodeOf, findRefusalReason } from './refusal-reasons.js';

export interface ParsedPayment {
  readonly outcome: ChargeOutcome;
  /** True if an operator must act: the response is unexpected, or a setting is wrong. */
  readonly isProblem: boolean;
}

/** Fields of a response for the log of operators. None of them contains card data, and payers must not see them. */
export interface ResponseDetails {
  readonly status: number;
  /** False if another charge of this card cannot succeed. Absent unless the payment was refused. */
  readonly mayRetry?: boolean;
  /** Adyen's codes and references, and the texts of a refusal, with masked numbers. */
  readonly [field: string]: boolean | number | string | undefined;
}

export interface ExpectedPayment {
  readonly terms: ChargeTerms;
  /** `/payments/details` completes a payment after its verification. */
  readonly step: 'payments' | 'details';
  /** Base URL of the Checkout API. */
  readonly checkoutUrl: string;
}

/** Error codes about the card itself (Adyen's documentation, page "Error codes and messages"). */
const CARD_ERRORS: Readonly<Record<string, DeclineCode>> = { 101: 'card.invalid', 103: 'card.incorrect-cvv' };

/** One merchant's account may be wrong: the others can be charged. */
const REFUSED: ChargeOutcome = { kind: 'notAttempted', hasResponded: true };
/** Adyen works, but its response does not decide the outcome. */
const UNDECIDED: ChargeOutcome = { kind: 'unknown', hasResponded: true };
/** There is no usable response, so Adyen may be down. */
const UNUSABLE: ChargeOutcome = { kind: 'unknown' };
const expectedOutcome = (outcome: ChargeOutcome): ParsedPayment => ({ outcome, isProblem: false });
const problem = (outcome: ChargeOutcome): ParsedPayment => ({ outcome, isProblem: true });

export function isCardError({ status, body }: AdyenResponse): boolean {
  return status === 422 && typeof body.errorCode === 'string' && Object.hasOwn(CARD_ERRORS, body.errorCode);
}

/** Parses a response of `/payments` or `/payments/details`. */
export function parsePayment(response: AdyenResponse, expected: ExpectedPayment): ParsedPayment {
  return response.status === 200 ? parseResult(response, expected) : parseError(response, expected);
}

function parseResult({ body }: AdyenResponse, expected: ExpectedPayment): ParsedPayment {
  const { resultCode, pspReference } = body;
  const acquirerReference = isText(pspReference, MAX_IDENTIFIER_LENGTH) ? pspReference : undefined;
  switch (resultCode) {
    case 'Authorised':
      // An authorisation without its reference could not be captured.
      return acquirerReference !== undefined && hasExpectedTerms(body, expected)
        ? expectedOutcome({ kind: 'approved', acquirerReference })
        : problem(UNDECIDED);
    case 'Refused':
    case 'Cancelled':
    case 'Error':
      return expectedOutcome({
        kind: 'declined',
        reason: declineReasonOf(body, expected.step),
        acquirerReference: acquirerReference ?? expected.terms.idempotencyKey,
        ...pickAcquirerCode(body),
        ...(mustNotRetry(body) ? { mustNotRetry: true } : {}),
      });
    case 'RedirectShopper':
      return parseRedirect(body, expected);
    case 'Pending':
    case 'Received':
      // A webhook reports the outcome.
      return expectedOutcome(UNDECIDED);
    default:
      return problem(UNDECIDED);
  }
}

/**
 * Mastercard's advice codes `03` (do not try again) and `21` (payment cancelled), and the issuer's codes for a card that is
 * picked up, lost or stolen, or for which Visa forbids further attempts. They begin the text of a raw field, which a
 * merchant account returns if it is set so.
 */
const FINAL_ADVICE = /^(03|21)\b/;
const FINAL_RAW_REASON = /^(04|07|41|43|R0|R1|R3)\b/;
/**
 * Adyen's codes for a blocked card, and for a card whose further attempts would cost the scheme's fee for retries. Other
 * final reasons, such as an expired card, may come from mistyped data or end sooner, so they must not close the card.
 */
const FINAL_CODES: ReadonlySet<unknown> = new Set(['5', '46']);

function mustNotRetry({ additionalData, refusalReasonCode }: AdyenResponse['body']): boolean {
  const { merchantAdviceCode, refusalReasonRaw } = (additionalData ?? {}) as Record<string, unknown>;
  const matches = (value: unknown, pattern: RegExp): boolean => typeof value === 'string' && pattern.test(value);
  return (
    matches(merchantAdviceCode, FINAL_ADVICE) ||
    matches(refusalReasonRaw, FINAL_RAW_REASON) ||
    FINAL_CODES.has(refusalReasonCode)
  );
}

/** Adyen's code, with the code and text of the issuer if the merchant account returns them: `2 05 : Do not honor`. */
function pickAcquirerCode({ refusalReasonCode, additionalData }: AdyenResponse['body']): { acquirerCode?: string } {
  const { refusalReasonRaw } = (additionalData ?? {}) as { refusalReasonRaw?: unknown };
  const texts = [
    ...Object.values(pickTexts({ refusalReasonCode }, (text) => CODE.test(text))),
    ...Object.values(pickTexts({ refusalReasonRaw }, () => true)),
  ];
  return texts.length === 0 ? {} : { acquirerCode: texts.join(' ').slice(0, MAX_LOGGED_LENGTH) };
}

/** During the verification the payer can cancel. Adyen's fraud rules can cancel too, and have a reason of their own. */
function declineReasonOf(body: AdyenResponse['body'], step: ExpectedPayment['step']): DeclineCode {
  const refusal = { code: body.refusalReasonCode, text: body.refusalReason };
  const reason = findRefusalReason(refusal);
  const isCancelledByPayer = reason === undefined || reason === CANCELLED;
  if (step === 'details' && body.resultCode === 'Cancelled' && isCancelledByPayer) return 'verification.failed';
  return declineCodeOf(refusal);
}

/**
 * A response contains these fields optionally. If it contains them, they are those of the request. The response to the
 * result of a verification must contain the reference: the request names no payment, so a payer could have returned the
 * result of a cheaper payment. Without the reference the webhook AUTHORISATION decides, whose reference and amount are
 * signed.
 */
function hasExpectedTerms(
  { merchantReference, amount }: AdyenResponse['body'],
  { terms, step }: Pick<ExpectedPayment, 'terms' | 'step'>,
): boolean {
  const { value, currency } = (amount ?? {}) as { value?: unknown; currency?: unknown };
  const isReferenceMissing = merchantReference === undefined && step === 'payments';
  return (
    (isReferenceMissing || merchantReference === terms.paymentReference) &&
    (amount === undefined || (value === terms.amount && currency === terms.currencyISOCode))
  );
}

function parseRedirect(
  { action }: AdyenResponse['body'],
  { step, terms, checkoutUrl }: ExpectedPayment,
): ParsedPayment {
  const { type, method, url } = (action ?? {}) as { type?: unknown; method?: unknown; url?: unknown };
  const isUsable =
    type === 'redirect' &&
    (method === undefined || method === 'GET') &&
    isAdyenUrl(url, { mode: terms.account.mode, checkoutUrl });
  // The payer cannot be verified. Without a verification nothing is authorised. The attempt is abandoned.
  if (!isUsable || step === 'details') return problem(UNDECIDED);
  return expectedOutcome({ kind: 'verificationRequired', challenge: { reference: terms.idempotencyKey, url } });
}

function parseError(response: AdyenResponse, { step, terms }: ExpectedPayment): ParsedPayment {
  if (!isFinalError(response)) return problem(isRefusedBeforeProcessing(response) ? UNDECIDED : UNUSABLE);
  if (response.status !== 422) return problem(REFUSED);
  const { pspReference, errorCode } = response.body;
  const acquirerReference = isText(pspReference, MAX_IDENTIFIER_LENGTH) ? pspReference : terms.idempotencyKey;
  // The payer's browser returned an unusable result. Without a verification nothing is authorised.
  if (step === 'details')
    return expectedOutcome({ kind: 'declined', reason: 'verification.failed', acquirerReference });
  const reason = isCardError(response) ? CARD_ERRORS[errorCode as string] : undefined;
  return reason ? expectedOutcome({ kind: 'declined', reason, acquirerReference }) : problem(REFUSED);
}

/** Categories of errors with status 422. The others are `validation` and `internal`. */
const SETTING_ERRORS: ReadonlySet<unknown> = new Set(['configuration', 'security']);

/** Adyen has refused the request before processing it: it is malformed, or the key or account is wrong. */
export function isRefusedBeforeProcessing({ status, body }: AdyenResponse): boolean {
  return [400, 401, 403, 404].includes(status) || (status === 422 && SETTING_ERRORS.has(body.errorType));
}

/**
 * True if Adyen has not executed the request. A refusal before processing says nothing about an earlier call whose
 * response was lost. A validation error is the response to that earlier call, which Adyen repeats.
 */
export function isFinalError(response: AdyenResponse): boolean {
  if (isRefusedBeforeProcessing(response)) return !response.isRepeat;
  return response.status === 422 && response.body.errorType === 'validation';
}

/** The text of an error is omitted, because it can contain the invalid value of a card's field. */
export function readDetails({ status, body }: AdyenResponse): ResponseDetails {
  const { pspReference, resultCode, refusalReasonCode, refusalReason, errorCode, errorType } = body;
  const { refusalReasonRaw } = (body.additionalData ?? {}) as { refusalReasonRaw?: unknown };
  const reason = findRefusalReason({ code: refusalReasonCode, text: refusalReason });
  return {
    status,
    ...pickTexts({ pspReference, resultCode, refusalReasonCode, errorCode, errorType }, (text) => CODE.test(text)),
    ...(body.resultCode === 'Authorised' ? {} : pickTexts({ refusalReason, refusalReasonRaw }, () => true)),
    ...(reason ? { mayRetry: !reason.isFinal } : {}),
  };
}

/** Adyen's codes and references. A longer text or another character is not a code. */
const CODE = /^[A-Za-z0-9_]{1,40}$/;
const MAX_LOGGED_LENGTH = 100;

function pickTexts(fields: object, isLoggable: (text: string) => boolean): Record<string, string> {
  const texts = Object.entries(fields).filter(([, value]) => typeof value === 'string') as [string, string][];
  const loggable = texts.filter(([, text]) => isLoggable(text));
  return Object.fromEntries(
    loggable.map(([name, text]) => [name, CODE.test(text) ? text : maskNumbers(text.slice(0, MAX_LOGGED_LENGTH))]),
  );
}
