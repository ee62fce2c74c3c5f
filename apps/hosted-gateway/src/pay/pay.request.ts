import { IsAmountInCents, MAX_AMOUNT_CENTS } from '@svc/contracts';
import { IsInt, IsOptional, IsString, IsUUID, Max, MaxLength, Min } from 'class-validator';

/** Body of the request that the page's script sends when the payer presses Pay. */
export class PayRequest {
  /** UUID of this payment, chosen by the page: a retry with it is the same payment. */
  @IsUUID()
  reference: string;

  /** Number of the attempt; the card was encrypted for exactly this attempt. */
  @IsInt()
  @Min(1)
  @Max(100)
  try: number;

  /** Compact JWE (P8). */
  @IsString()
  @MaxLength(4096)
  encryptedCard: string;

  /** Cents without the tip, chosen by the payer of an invoice. Default: the amount of the invoice. Ignored for a session. */
  @IsOptional()
  @IsAmountInCents()
  amount?: number;

  /** Cents. Ignored for a session. */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(MAX_AMOUNT_CENTS)
  tipAmount?: number;

  /** Browser data from the script. payer-context.ts parses it: invalid values never reject a payment. */
  @IsOptional()
  browser?: unknown;
}
