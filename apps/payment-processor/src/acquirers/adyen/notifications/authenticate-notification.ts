import { createHash, timingSafeEqual } from 'node:crypto';
import * as hmacModule from '@adyen/api-library/lib/src/utils/hmacValidator.js';
import type { AdyenSettings } from '../adyen-config.js';
import type { ParsedNotification, ReceivedItem, SignedFields } from './parse-notification.js';

/** The method of Adyen's class that is used here. Its own type needs more fields than are signed. */
interface HmacValidator {
  /** Compares in constant time. */
  validateHMAC(item: SignedFields & { additionalData: { hmacSignature: string } }, hexKey: string): boolean;
}

/** The module is CommonJS: Node.js and the bundle give its exports as `default`, and Jest gives the class itself. */
const exported = hmacModule.default as unknown as { readonly default?: new () => HmacValidator };
const validator: HmacValidator = new (exported.default ?? (exported as new () => HmacValidator))();

/** Checks the basic authentication with which Adyen calls the endpoint of a mode. */
export function hasWebhookCredentials(
  authorization: string | undefined,
  { webhookUser, webhookPassword }: Pick<AdyenSettings, 'webhookPassword' | 'webhookUser'>,
): boolean {
  const encoded = /^basic ([A-Za-z0-9+/]+={0,2})$/i.exec(authorization ?? '')?.[1] ?? '';
  const received = Buffer.from(encoded, 'base64');
  return timingSafeEqual(digest(received), digest(`${webhookUser}:${webhookPassword}`));
}

/** Digests are compared, so that the comparison takes the same time for texts of any length. */
function digest(text: Buffer | string): Buffer {
  return createHash('sha256').update(text).digest();
}

export interface AuthenticationResult {
  /** False if the request must be refused with 401, and no item may be stored. */
  readonly isAuthentic: boolean;
  /** For each item, in their order. */
  readonly authenticItems: readonly boolean[];
}

/** Checks the signature of each item with each key: during a rotation there are two. */
export function authenticateItems(
  { items }: ParsedNotification,
  { hmacKeys }: Pick<AdyenSettings, 'hmacKeys'>,
): AuthenticationResult {
  const authenticItems = items.map((item) => isAuthenticItem(item, hmacKeys));
  return { isAuthentic: authenticItems.length > 0 && authenticItems.every(Boolean), authenticItems };
}

function isAuthenticItem({ signed, hmacSignature }: ReceivedItem, hmacKeys: readonly string[]): boolean {
  if (hmacSignature === undefined || !isUnambiguous(signed)) return false;
  const item = { ...signed, additionalData: { hmacSignature } };
  return hmacKeys.some((key) => validator.validateHMAC(item, key));
}

/**
 * Adyen joins the signed fields with colons and escapes none. So only one field may contain colons, the reference that
 * merchants choose: otherwise the same signature would fit other fields.
 */
function isUnambiguous({ merchantReference: _, amount, ...texts }: SignedFields): boolean {
  return ![...Object.values(texts), amount.currency].some((text) => text.includes(':')) && !Number.isNaN(amount.value);
}
