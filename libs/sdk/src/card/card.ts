/**
 * Card data from the moment it is typed to the moment it is encrypted (P8). It runs where the card is typed: on the payment page,
 * in a merchant's own browser code, or on a partner's server. Only payment-processor can decrypt the result. The binding is
 * inside the ciphertext, so that an intercepted ciphertext is useless for another session, another attempt or a later time.
 *
 * Browser-safe: nothing here, nor what it imports, may need Node.js.
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

/** Plain card data. Never log it, never store it, not even encrypted (P8). */
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
  /** The session it pays, 1 to 100 characters. */
  sessionId: string;
  /** Number of the attempt in that session, from 1. */
  try: number;
  /** ISO 8601 UTC; after it the card data is refused. */
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
  /** base64url, as y. */
  x?: string;
  y?: string;
  /** Other members, such as `use` and `alg`. */
  [other: string]: unknown;
}

export const CARD_KEY_MANAGEMENT = 'ECDH-ES';
export const CARD_CONTENT_ENCRYPTION = 'A256GCM';
export const HOLDER_NAME_MAX_LENGTH = 100;

/** Something about the card, the binding or the key is malformed. Names the field, never repeats its value. */
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
 * @returns a compact JWE: ECDH-ES on P-256, A256GCM, the key's `kid` and `cty: "json"` in its protected header. Each call returns
 * another text (ephemeral key), so it cannot serve as an idempotency key: send `reference` for that (C7)
 *
 * @throws CardDataError
 * when a field is malformed
 */
export async function encryptCard(input: {
  card: CardData | CardToStore;
  binding: CardBinding;
  publicJwk: CardEncryptionKey;
}): Promise<string> {
  const { publicJwk } = input;
  checkKey(publicJwk);
  // Built field by field: extra properties of the caller's object must not be sent.
  const plaintext: CardPlaintext = { card: checkedCard(input.card), binding: checkedBinding(input.binding) };
  const { kty, crv, x, y, kid } = publicJwk;
  return new CompactEncrypt(new TextEncoder().encode(JSON.stringify(plaintext)))
    .setProtectedHeader({ alg: CARD_KEY_MANAGEMENT, enc: CARD_CONTENT_ENCRYPTION, kid, cty: 'json' })
    .encrypt({ kty, crv, x, y } as JWK);
}

function checkedCard(card: CardData | CardToStore): CardData | CardToStore {
  const { cardNumber, holderName, expiryMonth, expiryYear } = card;
  const cvv: unknown = 'cvv' in card ? card.cvv : undefined;
  const isNumber = typeof cardNumber === 'string' && /^\d{12,19}$/.test(cardNumber);
  must(isNumber, 'card.cardNumber', 'must be 12 to 19 digits');
  // A card to be stored is encrypted without a CVV; a payment without it is refused after decryption.
  must(!('cvv' in card) || (typeof cvv === 'string' && /^\d{3,4}$/.test(cvv)), 'card.cvv', 'must be 3 or 4 digits');
  must(
    typeof holderName === 'string' && holderName.trim() !== '' && holderName.length <= HOLDER_NAME_MAX_LENGTH,
    'card.holderName',
    'must have 1 to 100 characters',
  );
  must(isWithin(expiryMonth, 1, 12), 'card.expiryMonth', 'must be a number from 1 to 12');
  must(isWithin(expiryYear, 2000, 2099), 'card.expiryYear', 'must be a year of four digits');
  const rest = { cardNumber, holderName: holderName.trim(), expiryMonth, expiryYear };
  return 'cvv' in card ? { ...rest, cvv: card.cvv } : rest;
}

function checkedBinding(binding: CardBinding): CardBinding {
  const { sessionId, expiresAt } = binding;
  must(
    typeof sessionId === 'string' && sessionId.length >= 1 && sessionId.length <= 100,
    'binding.sessionId',
    'must have 1 to 100 characters',
  );
  must(isWithin(binding.try, 1, 1000), 'binding.try', 'must be a number from 1');
  must(
    typeof expiresAt === 'string' && /^\d{4}-\d\d-\d\dT/.test(expiresAt) && !Number.isNaN(Date.parse(expiresAt)),
    'binding.expiresAt',
    'must be an ISO 8601 time',
  );
  return { sessionId, try: binding.try, expiresAt };
}

function checkKey(key: CardEncryptionKey): void {
  must(key.kty === 'EC' && key.crv === 'P-256', 'publicJwk', 'must be an EC key on P-256');
  must(typeof key.kid === 'string' && key.kid !== '' && key.kid.length <= 100, 'publicJwk.kid', 'must be present');
  // A private key here means that it was published by mistake: refuse to use it.
  must(!('d' in key), 'publicJwk', 'must be a public key');
}

function isWithin(value: unknown, least: number, most: number): boolean {
  return Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
}

function must(condition: boolean, field: string, problem: string): void {
  if (!condition) throw new CardDataError(field, problem);
}
