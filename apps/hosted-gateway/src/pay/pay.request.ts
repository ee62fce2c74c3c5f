import { IsAmountInCents, MAX_AMOUNT_CENTS } from '@svc/contracts';
import { IsInt, IsOptional, IsString, IsUUID, Max, MaxLength, Min } from 'class-validator';
import { MAX_CHALLENGE_LENGTH, MAX_SOLUTION } from '../challenge/challenge.js';

/** Body of the request that the page's script sends when the payer presses Pay. */
export class PayRequest {
  /** UUID of this payment, chosen by the page. A retry with the same UUID does not charge again. */
  @IsUUID()
  reference: string;

  /** Number of the payment for the payable, from 1. The encrypted card is valid only for this payment. */
  @IsInt()
  @Min(1)
  @Max(100)
  paymentNumber: number;

  /** Compact JWE (P8). */
  @IsString()
  @MaxLength(4096)
  encryptedCard: string;

  /**
   * Cents without the tip, chosen by the payer of an invoice. Default: the amount of the invoice. Ignored for a
   * session.
   */
  @IsOptional()
  @IsAmountInCents()
  amount?: number;

  /** Cents. Ignored for a session. */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(MAX_AMOUNT_CENTS)
  tipAmount?: number;

  /** The challenge that the page solved. Only pages of sites under attack have one. */
  @IsOptional()
  @IsString()
  @MaxLength(MAX_CHALLENGE_LENGTH)
  challenge?: string;

  /** Solution of the challenge. */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(MAX_SOLUTION)
  solution?: number;

  /** Browser data from the script. payer-context.ts ignores invalid values, so that they never reject a payment. */
  @IsOptional()
  browser?: unknown;
}
