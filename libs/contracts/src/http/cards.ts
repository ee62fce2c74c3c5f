import { IsInt, IsOptional, IsString, MaxLength } from 'class-validator';
import { IsLabel, MAX_IDENTIFIER_LENGTH } from '../validation.js';

/** Card network, derived from the first digits of the card number. */
export type CardBrand = 'visa' | 'mastercard' | 'amex' | 'diners' | 'discover' | 'unknown';

/**
 * Body of `POST /v1/cards` (P7): either `encryptedCard`, or the plain card number with its expiry and holder, over TLS.
 * The number is validated where cards are decrypted, so that no message repeats it (P8). There is no CVV: it is never
 * stored.
 */
export class StoreCardRequest {
  /**
   * Compact JWE for the processor's public key. Its `binding.paymentNumber` must be 1. Its `binding.sessionId` must be
   * the customerReference with a customer token, or the organisationId with a service token.
   */
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
  @IsLabel(MAX_IDENTIFIER_LENGTH)
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

/** Response of `POST /v1/cards` (P7). */
export interface CardAnswer {
  /** Identifies the stored card in a payment, and in the request to delete the card. Valid only in its organisation. */
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
