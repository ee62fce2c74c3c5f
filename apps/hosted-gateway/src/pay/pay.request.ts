import { IsInt, IsString, IsUUID, Max, MaxLength, Min } from 'class-validator';

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
}
