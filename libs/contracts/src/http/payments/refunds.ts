import { IsOptional } from 'class-validator';
import { IsAmountInCents, IsLabel } from '../../validation.js';

/** Maximum length of a refund's reason, in characters. */
const MAX_REFUND_REASON_LENGTH = 200;

/** Body of `POST /business/api/v1/merchants/{m}/refunds?svcId=` (M5). */
export class CreateRefundRequest {
  /** Cents to refund; at most the processed amount that is not refunded yet. */
  @IsAmountInCents()
  amount: number;

  /** For the merchant's own records; not sent to the payer or the bank. */
  @IsOptional()
  @IsLabel(MAX_REFUND_REASON_LENGTH)
  reason?: string;
}

/**
 * `pending`: the bank has not decided; the amount is reserved. `succeeded` and `failed` are final. After a failed
 * refund the amount may be refunded again.
 */
export type RefundStatus = 'pending' | 'succeeded' | 'failed';

/** A refund in the merchant's API (M5). */
export interface RefundResponse {
  /**
   * UUID.
   * @schema uuid
   */
  refundReference: string;
  /** paymentReference of the payment (C3). */
  svcId: string;
  /** Cents. */
  amount: number;
  status: RefundStatus;
  /** ISO 8601 UTC with milliseconds (C2). */
  createdUTCDate: string;
}
