/**
 * Encryption of card data (P8). This code runs where a person types the card: on the payment page, in a merchant's
 * browser code, or on a partner's server. Only payment-processor can decrypt the result. The plaintext contains a
 * binding, so that an intercepted ciphertext cannot be used for another session, another payment or at a later time.
 *
 * This file and its imports must not use Node.js, because browsers run them.
 */
import { CompactEncrypt, type JWK } from 'jose';

export {
  CARD_NUMBER_MAX_DIGITS,
  CARD_NUMBER_MIN_DIGITS,
  cardBrand,
  formatCardNumber,
  isCardNumberValid,
  isLuhnValid,
  normaliseCardNumber,
  type CardBrand,
  type CardBrandName,
} from './card-number.js';
export { formatExpiry, parseExpiry, type ParsedExpiry } from './card-expiry.js';

/** Plain card data. It must never be logged or stored, not even encrypted (P8). */
export interface CardData {
  /** 12 to 19 digits, nothing else. */
  cardNumber: string;
  /** 3 or 4 digits. */
  cvv: string;
  /** As printed on the card; 1 to 100 characters. */
  holderName: string;
  /** 1 to 12. */
  expiryMonth: number;
  /** Four digits, 2000 to 2099. */
  expiryYear: number;
}

/** A card to be stored: it has no CVV. */
export type CardToStore = Omit<CardData, 'cvv'>;

/** The only use for which the encrypted card is valid. */
export interface CardBinding {
  /** The session that the card pays, 1 to 100 characters. */
  sessionId: string;
  /** Number of the payment in that session, from 1. */
  paymentNumber: number;
  /**
   * ISO 8601 UTC. The encrypted card is refused after this time of the platform. Derive it from a time of the platform,
   * such as the header Date of a response, because the clock of this machine may be wrong.
   */
  expiresAt: string;
}

/** The plaintext inside the JWE, as JSON in UTF-8. */
export interface CardPlaintext {
  card: CardData | CardToStore;
  binding: CardBinding;
}

/** The processor's public encryption key: EC, P-256, with a `kid`. */
export interface CardEncryptionKey {
  kid: string;
  kty?: string;
  crv?: string;
  /** base64url, like y. */
  x?: string;
  y?: string;
  /** Other members, such as `use` and `alg`. */
  [other: string]: unknown;
}

const CARD_KEY_MANAGEMENT = 'ECDH-ES';
const CARD_CONTENT_ENCRYPTION = 'A256GCM';
export const HOLDER_NAME_MAX_LENGTH = 100;

/**
 * A field of the card, the binding or the key is malformed. The error names the field, but never contains its value.
 */
export class CardDataError extends Error {
  override readonly name = 'CardDataError';
  constructor(
    readonly field: string,
    problem: string,
  ) {
    super(`${field} ${problem}`);
  }
}

/**
 * Encrypts card data for payment-processor.
 *
 * @returns a compact JWE: ECDH-ES on P-256, A256GCM, with the key's `kid` and `cty: "json"` in the protected header.
 *   Each call returns a different text, because the key agreement uses an ephemeral key. Therefore the text is no
 *   idempotency key: send `reference` for that (C7)
 * @throws CardDataError if a field is malformed
 */
export async function encryptCard(input: {
  card: CardData | CardToStore;
  binding: CardBinding;
  publicJwk: CardEncryptionKey;
}): Promise<string> {
  const { publicJwk } = input;
  validateKey(publicJwk);
  // The validation copies field by field, so that additional properties of the caller's object are not sent.
  const plaintext: CardPlaintext = { card: validateCard(input.card), binding: validateBinding(input.binding) };
  const { kty, crv, x, y, kid } = publicJwk;
  return new CompactEncrypt(new TextEncoder().encode(JSON.stringify(plaintext)))
    .setProtectedHeader({ alg: CARD_KEY_MANAGEMENT, enc: CARD_CONTENT_ENCRYPTION, kid, cty: 'json' })
    .encrypt({ kty, crv, x, y } as JWK);
}

function validateCard(card: CardData | CardToStore): CardData | CardToStore {
  const { cardNumber, holderName, expiryMonth, expiryYear } = card;
  const cvv: unknown = 'cvv' in card ? card.cvv : undefined;
  const isNumber = typeof cardNumber === 'string' && /^\d{12,19}$/.test(cardNumber);
  assertField(isNumber, 'card.cardNumber', 'must be 12 to 19 digits');
  // The CVV may be absent, because a card to be stored has none. A payment without a CVV is refused after decryption.
  assertField(
    !('cvv' in card) || (typeof cvv === 'string' && /^\d{3,4}$/.test(cvv)),
    'card.cvv',
    'must be 3 or 4 digits',
  );
  assertField(
    typeof holderName === 'string' && holderName.trim() !== '' && holderName.length <= HOLDER_NAME_MAX_LENGTH,
    'card.holderName',
    'must have 1 to 100 characters',
  );
  assertField(isWholeNumberBetween(expiryMonth, 1, 12), 'card.expiryMonth', 'must be a number from 1 to 12');
  assertField(isWholeNumberBetween(expiryYear, 2000, 2099), 'card.expiryYear', 'must be a year of four digits');
  const rest = { cardNumber, holderName: holderName.trim(), expiryMonth, expiryYear };
  return 'cvv' in card ? { ...rest, cvv: card.cvv } : rest;
}

function validateBinding(binding: CardBinding): CardBinding {
  const { sessionId, expiresAt } = binding;
  assertField(
    typeof sessionId === 'string' && sessionId.length >= 1 && sessionId.length <= 100,
    'binding.sessionId',
    'must have 1 to 100 characters',
  );
  assertField(isWholeNumberBetween(binding.paymentNumber, 1, 1000), 'binding.paymentNumber', 'must be a number from 1');
  assertField(
    typeof expiresAt === 'string' && /^\d{4}-\d\d-\d\dT/.test(expiresAt) && !Number.isNaN(Date.parse(expiresAt)),
    'binding.expiresAt',
    'must be an ISO 8601 time',
  );
  return { sessionId, paymentNumber: binding.paymentNumber, expiresAt };
}

function validateKey(key: CardEncryptionKey): void {
  assertField(key.kty === 'EC' && key.crv === 'P-256', 'publicJwk', 'must be an EC key on P-256');
  assertField(
    typeof key.kid === 'string' && key.kid !== '' && key.kid.length <= 100,
    'publicJwk.kid',
    'must be present',
  );
  // `d` is the private part: the key was published by mistake, so it must not be used.
  assertField(!('d' in key), 'publicJwk', 'must be a public key');
}

function isWholeNumberBetween(value: unknown, min: number, max: number): boolean {
  return Number.isInteger(value) && (value as number) >= min && (value as number) <= max;
}

function assertField(condition: boolean, field: string, problem: string): void {
  if (!condition) throw new CardDataError(field, problem);
}
