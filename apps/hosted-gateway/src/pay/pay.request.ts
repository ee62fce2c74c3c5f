import { IsAmountInCents, MAX_AMOUNT_CENTS } from '@svc/contracts';
import { IsInt, IsOptional, IsString, IsUUID, Max, MaxLength, Min } from 'class-validator';

/** What the page's script sends when the payer presses Pay. */
export class PayRequest {
  /** UUID of this payment, chosen by the page: a repeat is the same payment. */
  @IsUUID()
  reference: string;

  /** Which try of the session this is; the card was encrypted for exactly this one. */
  @IsInt()
  @Min(1)
  @Max(100)
  try: number;

  /** Compact JWE (P8). */
  @IsString()
  @MaxLength(4096)
  encryptedCard: string;

  /** Cents, tip not included: what the payer of an invoice chose; what is owed where absent. Of a session it does not count. */
  @IsOptional()
  @IsAmountInCents()
  amount?: number;

  /** Cents; of an invoice alone, too. */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(MAX_AMOUNT_CENTS)
  tipAmount?: number;

  /** What the script read of the browser. Read by payer-context.ts: whatever it is, it does not refuse a payment. */
  @IsOptional()
  browser?: unknown;
}
