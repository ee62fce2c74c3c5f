import { isAmountInCents, isText } from '@svc/contracts';
import { maskNumbers } from '@svc/persistence/transaction';

const MAX_ITEMS = 100;
/** Of a reference, an account, a code or a date. */
const MAX_FIELD_LENGTH = 100;
/** Of a reason for operators, and of the URL of a report. */
const MAX_REASON_LENGTH = 500;
const MAX_SIGNATURE_LENGTH = 100;

/** The body of a standard webhook. Each item must be authenticated before one is stored. */
export interface ParsedNotification {
  /** True for live mode. The signatures of the items do not cover this field. */
  readonly isLive: boolean;
  readonly items: readonly ReceivedItem[];
}

export interface ReceivedItem {
  readonly signed: SignedFields;
  /** Base64; undefined if the item has none. */
  readonly hmacSignature: string | undefined;
  /** The fields that may be stored. */
  readonly kept: NotificationItem;
}

/** The fields that Adyen signs, as they arrived (Adyen's documentation, page "Verify HMAC signatures"). */
export interface SignedFields {
  readonly pspReference: string;
  readonly originalReference: string;
  readonly merchantAccountCode: string;
  readonly merchantReference: string;
  readonly amount: { readonly value: number; readonly currency: string };
  readonly eventCode: string;
  readonly success: 'false' | 'true';
}

/**
 * The fields of an item that may be stored. Everything else is dropped: `additionalData` can contain the last digits, the
 * expiry date and the holder of a card, and the `reason` of an authorisation contains the first two.
 */
export interface NotificationItem extends SignedFields {
  /** ISO 8601 UTC; undefined if the item has no usable date. */
  readonly eventUTCDate: string | undefined;
  /** For operators. For `REPORT_AVAILABLE` the URL of the report. */
  readonly reason: string | undefined;
  readonly dispute: DisputeFields | undefined;
  /** The first field that is missing, too long or of another type. Such an item has no effect. */
  readonly invalidField: string | undefined;
}

/** Signatures do not cover these fields. */
export interface DisputeFields {
  readonly disputeStatus?: string;
  /** ISO 8601 UTC. */
  readonly defensePeriodEndsUTCDate?: string;
  readonly defendable?: string;
  readonly autoDefended?: string;
  readonly reasonCode?: string;
  readonly schemeCode?: string;
  readonly capturePspReference?: string;
}

/** Undefined if the body, a value of JSON, is not a standard webhook. */
export function parseNotification(body: unknown): ParsedNotification | undefined {
  const { live, notificationItems } = recordOrEmpty(body);
  if ((live !== 'true' && live !== 'false') || !Array.isArray(notificationItems)) return undefined;
  if (notificationItems.length === 0 || notificationItems.length > MAX_ITEMS) return undefined;
  const items = notificationItems.map((wrapper) => parseItem(recordOrEmpty(wrapper).NotificationRequestItem));
  return { isLive: live === 'true', items };
}

function parseItem(item: unknown): ReceivedItem {
  const fields = recordOrEmpty(item);
  const additionalData = recordOrEmpty(fields.additionalData);
  const signed = readSignedFields(fields);
  const { hmacSignature } = additionalData;
  return {
    signed,
    hmacSignature: isText(hmacSignature, MAX_SIGNATURE_LENGTH) ? hmacSignature : undefined,
    kept: {
      ...truncate(signed),
      eventUTCDate: toUTCDate(fields.eventDate),
      reason: readReason(fields.reason, signed),
      dispute: readDisputeFields(additionalData),
      invalidField: findInvalidField(fields, signed),
    },
  };
}

/** A field of another type is read as an empty text, so that it cannot match the signature of a real item. */
function readSignedFields(fields: Record<string, unknown>): SignedFields {
  const { value, currency } = recordOrEmpty(fields.amount);
  return {
    pspReference: textOrEmpty(fields.pspReference),
    originalReference: textOrEmpty(fields.originalReference),
    merchantAccountCode: textOrEmpty(fields.merchantAccountCode),
    merchantReference: textOrEmpty(fields.merchantReference),
    amount: { value: Number.isSafeInteger(value) ? (value as number) : Number.NaN, currency: textOrEmpty(currency) },
    eventCode: textOrEmpty(fields.eventCode),
    success: fields.success === 'true' ? 'true' : 'false',
  };
}

/** A stored field fits into its column. An item with a truncated field has no effect. */
function truncate({ amount, success, ...texts }: SignedFields): SignedFields {
  const clean = (text: string): string => text.replace(/[\u0000-\u001f\u007f-\u009f]/g, ' ').toWellFormed();
  const short = Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, clean(text).slice(0, MAX_FIELD_LENGTH)]),
  ) as typeof texts;
  const value = Number.isNaN(amount.value) ? 0 : amount.value;
  return { ...short, amount: { value, currency: clean(amount.currency).slice(0, 3) }, success };
}

/** `REPORT_AVAILABLE` has no payment and no reference, and its amount has no meaning. */
function findInvalidField(fields: Record<string, unknown>, signed: SignedFields): string | undefined {
  const { amount, eventCode, success, ...texts } = signed;
  const isReport = eventCode === 'REPORT_AVAILABLE';
  const optional = new Set(isReport ? ['originalReference', 'merchantReference'] : ['originalReference']);
  for (const [name, text] of Object.entries({ ...texts, eventCode }))
    if (!isText(text, MAX_FIELD_LENGTH) && !(text === '' && optional.has(name))) return name;
  if (fields.success !== success) return 'success';
  const isAmount = amount.value === 0 || isAmountInCents(amount.value);
  return isReport || (isAmount && /^[A-Z]{3}$/.test(amount.currency)) ? undefined : 'amount';
}

/** The reason of a successful authorisation is the code, the last digits and the expiry date of the card. */
function readReason(reason: unknown, { eventCode, success }: SignedFields): string | undefined {
  if (typeof reason !== 'string' || reason.trim() === '') return undefined;
  if (eventCode === 'AUTHORISATION' && success === 'true') return undefined;
  // A URL is used, so it is kept unchanged or not at all.
  if (eventCode === 'REPORT_AVAILABLE') return isText(reason, MAX_REASON_LENGTH) ? reason : undefined;
  const text = reason.replace(/[\u0000-\u001f\u007f-\u009f]/g, ' ').toWellFormed();
  return maskNumbers(text.slice(0, MAX_REASON_LENGTH).trim());
}

function readDisputeFields(additionalData: Record<string, unknown>): DisputeFields | undefined {
  const { disputeStatus, defendable, autoDefended, capturePspReference } = additionalData;
  const reasonCode = additionalData.chargebackReasonCode ?? additionalData.rfiReasonCode;
  const schemeCode = additionalData.chargebackSchemeCode ?? additionalData.rfiSchemeCode;
  const defensePeriodEndsUTCDate = toUTCDate(additionalData.defensePeriodEndsAt);
  const texts = { disputeStatus, defendable, autoDefended, reasonCode, schemeCode, capturePspReference };
  const valid = Object.entries({ ...texts, defensePeriodEndsUTCDate }).flatMap(([name, text]) =>
    isText(text, MAX_FIELD_LENGTH) ? [[name, text.trim()] as const] : [],
  );
  return valid.length === 0 ? undefined : Object.fromEntries(valid);
}

/** ISO 8601 with an offset, such as `2021-07-31T03:03:07+02:00`. */
const DATE = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/;

function toUTCDate(text: unknown): string | undefined {
  if (typeof text !== 'string' || !DATE.test(text)) return undefined;
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

function recordOrEmpty(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function textOrEmpty(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
