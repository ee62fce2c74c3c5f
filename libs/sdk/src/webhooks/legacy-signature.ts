/**
 * The `signature` inside the webhook body (row E3), which existing receivers check. It is a plain hash over nine fields: it
 * covers neither the time nor the other fields, and since `|` may occur in an order reference, two different notifications can
 * have the same signed text. New receivers use `verifyWebhook`, which checks the Standard Webhooks headers (E4). Receivers that
 * keep this scheme must also compare order and amount with their own record (`assertExpectedPayment`).
 */
import { createHash, timingSafeEqual } from 'node:crypto';

/** The signed fields, each exactly as on the wire: pass the parsed body, not one whose values were converted. */
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

/** The nine parts joined by `|`: apiKey first, userMessage last (empty when absent). */
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
 * Whether `notification.signature` was made with this key.
 *
 * @param apiKey the site's API key for sessions made under v3.1, the merchant's for v3; both keys during a rotation
 */
export function verifyLegacySignature(
  notification: LegacySignedFields & { signature: string },
  apiKey: string | readonly string[],
): boolean {
  const given = notification.signature;
  if (typeof given !== 'string' || !/^[0-9a-f]{64}$/.test(given)) return false;
  const keys = typeof apiKey === 'string' ? [apiKey] : apiKey;
  return keys.some(
    (key) => key !== '' && timingSafeEqual(Buffer.from(legacySignature(notification, key)), Buffer.from(given)),
  );
}
