import { IsInt, IsOptional, IsString, MaxLength } from 'class-validator';
import { IsText, MAX_IDENTIFIER_LENGTH } from '../validation.js';

/** Who issued a card, as its first digits say. */
export type CardBrand = 'visa' | 'mastercard' | 'amex' | 'diners' | 'discover' | 'unknown';

/**
 * Body of `POST /v1/cards` (P7): either `encryptedCard`, or the number in clear inside TLS with what belongs to it. What a
 * number must be is checked where cards are opened, so that no message repeats one (P8). No CVV: it is never stored.
 */
export class StoreCardRequest {
  /** Compact JWE to the processor's public key, bound to the customerReference (with a service token the organisationId) as its session, and try 1. */
  @IsOptional()
  @IsString()
  @MaxLength(4_096)
  encryptedCard?: string | null;

  /** 12 to 19 digits. */
  @IsOptional()
  @IsString()
  @MaxLength(40)
  cardNumber?: string | null;

  @IsOptional()
  @IsText(MAX_IDENTIFIER_LENGTH)
  holderName?: string | null;

  /** 1 to 12. */
  @IsOptional()
  @IsInt()
  expiryMonth?: number | null;

  /** Four digits. */
  @IsOptional()
  @IsInt()
  expiryYear?: number | null;
}

/** Answer of `POST /v1/cards` (P7). */
export interface CardAnswer {
  /** What the card is paid with and deleted by. Means nothing outside its organisation. */
  token: string;
  /** `**** 4242` (P9). */
  cardMask: string;
  holderName: string;
  /** 1 to 12. */
  expiryMonth: number;
  /** Four digits. */
  expiryYear: number;
  brand: CardBrand;
}
