/**
 * The `signature` in the webhook body (E3), which existing receivers check. It is a plain hash over the API key and
 * eight fields, and has two weaknesses. First, it covers neither the signing time nor the other fields. Second, two
 * different notifications can have the same signed text, because an order reference may contain `|`. New receivers
 * should use `verifyWebhook`, which checks the Standard Webhooks headers (E4). Receivers that use this scheme must also
 * compare order and amount with their own record (`assertExpectedPayment`).
 */
import { createHash, timingSafeEqual } from 'node:crypto';

/** The signed fields, exactly as received: pass the parsed body without converting its values. */
export interface LegacySignedFields {
  sessionId: string;
  /** Integer cents. */
  amount: number;
  currencyISOCode: string;
  merchantOrderId: string;
  paymentReference: string;
  /** Text or number, as received. */
  paymentStatus: string | number;
  paymentUTCDate: string;
  userMessage?: string | null;
}

/**
 * The signed text: nine parts joined by `|`. The first part is the API key. The last part is userMessage, or empty if
 * userMessage is absent.
 */
export function legacySignatureText(fields: LegacySignedFields, apiKey: string): string {
  return [
    apiKey,
    fields.sessionId,
    String(fields.amount),
    fields.currencyISOCode,
    fields.merchantOrderId,
    fields.paymentReference,
    String(fields.paymentStatus),
    fields.paymentUTCDate,
    fields.userMessage ?? '',
  ].join('|');
}

/** Lower-case hex SHA-256 of `legacySignatureText` in UTF-8. */
export function legacySignature(fields: LegacySignedFields, apiKey: string): string {
  return createHash('sha256').update(legacySignatureText(fields, apiKey)).digest('hex');
}

/**
 * Whether `notification.signature` was created with this key.
 *
 * @param apiKey for sessions of v3.1 the site's API key, for v3 the merchant's API key. During a rotation, pass a list
 *   of the old and the new key
 */
export function verifyLegacySignature(
  notification: LegacySignedFields & { signature: string },
  apiKey: string | readonly string[],
): boolean {
  const signature = notification.signature;
  if (typeof signature !== 'string' || !/^[0-9a-f]{64}$/.test(signature)) return false;
  const keys = typeof apiKey === 'string' ? [apiKey] : apiKey;
  return keys.some(
    (key) => key !== '' && timingSafeEqual(Buffer.from(legacySignature(notification, key)), Buffer.from(signature)),
  );
}
