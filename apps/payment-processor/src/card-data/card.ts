import type { CardBrand } from '@svc/contracts';

/**
 * Card data in memory, from its decryption to the acquirer's response. Card data is never written anywhere: no field of
 * this type may reach a table, a message, a log or an error (P8).
 */
export interface Card {
  /** 12 to 19 digits, Luhn valid. */
  readonly cardNumber: string;
  /** 3 or 4 digits; absent when a card is only stored. */
  readonly cvv?: string;
  readonly holderName: string;
  /** 1 to 12. */
  readonly expiryMonth: number;
  /** Four digits. */
  readonly expiryYear: number;
}

/**
 * Binds an encrypted card to one payment of a session. The card is rejected for any other session or payment, so a copy
 * of the card is useless (P8).
 */
export interface CardBinding {
  readonly sessionId: string;
  readonly paymentNumber: number;
  /** ISO 8601 UTC. */
  readonly expiresAt: string;
}

/** The only form in which a card number may be shown or stored: `**** 4242` (P9). */
export function cardMask(card: Pick<Card, 'cardNumber'>): string {
  return `**** ${card.cardNumber.slice(-4)}`;
}

/** Derives the brand from the first digits (ISO/IEC 7812-1); `unknown` when no prefix matches. */
export function cardBrand({ cardNumber }: Pick<Card, 'cardNumber'>): CardBrand {
  const match = BRANDS.find(([, prefix]) => prefix.test(cardNumber));
  return match ? match[0] : 'unknown';
}

const BRANDS: readonly (readonly [CardBrand, RegExp])[] = [
  ['visa', /^4/],
  ['mastercard', /^(5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/],
  ['amex', /^3[47]/],
  ['diners', /^3(0[0-5]|[689])/],
  ['discover', /^(6011|64[4-9]|65)/],
];
