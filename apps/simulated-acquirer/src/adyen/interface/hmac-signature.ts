import { createHmac } from 'node:crypto';
import type { NotificationItem } from '../state/records.js';

/**
 * The signature of a notification: HMAC-SHA256 with the hexadecimal key over eight values that are joined by colons, in
 * Base64 (documentation: "Verify HMAC signatures"). A missing value is an empty text.
 */
export function signNotification(item: Omit<NotificationItem, 'additionalData'>, hmacKey: string): string {
  const data = [
    item.pspReference,
    item.originalReference ?? '',
    item.merchantAccountCode,
    item.merchantReference,
    item.amount.value,
    item.amount.currency,
    item.eventCode,
    item.success,
  ].join(':');
  return createHmac('sha256', Buffer.from(hmacKey, 'hex')).update(data, 'utf8').digest('base64');
}
