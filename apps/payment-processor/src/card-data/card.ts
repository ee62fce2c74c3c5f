/**
 * Card data as it exists in memory, between opening it and the acquirer's answer. Never written anywhere: no field
 * of this type may reach a table, a message, a log or an error (P8).
 */
export interface Card {
  /** 12 to 19 digits, Luhn valid. */
  readonly cardNumber: string;
  /** 3 or 4 digits. */
  readonly cvv: string;
  readonly holderName: string;
  /** 1 to 12. */
  readonly expiryMonth: number;
  /** Four digits. */
  readonly expiryYear: number;
}

/** What the card was encrypted for. It opens for nothing else, so a copied message is worthless elsewhere (P8). */
export interface CardBinding {
  readonly sessionId: string;
  readonly try: number;
  /** ISO 8601 UTC. */
  readonly expiresAt: string;
}

/** The only form in which a card number may be shown or stored: `**** 4242` (P9). */
export function cardMask(card: Card): string {
  return `**** ${card.cardNumber.slice(-4)}`;
}
