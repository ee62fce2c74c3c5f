import { IsOptional } from 'class-validator';
import { IsAmountInCents, IsText } from '../../validation.js';

/** Longest reason of a refund, in characters. */
export const MAX_REFUND_REASON_LENGTH = 200;

/** `POST /business/api/v1/merchants/{m}/refunds?svcId=` (M5). */
export class CreateRefundRequest {
  /** Cents to give back; at most what is left of what was processed. */
  @IsAmountInCents()
  amount: number;

  /** For the merchant's own records; neither the payer nor the bank sees it. */
  @IsOptional()
  @IsText(MAX_REFUND_REASON_LENGTH)
  reason?: string;
}

/**
 * `pending`: the bank has not said what became of it; its amount is reserved. `succeeded` and `failed` are final; a failed
 * one has given nothing back, and its amount may be refunded again.
 */
export type RefundStatus = 'pending' | 'succeeded' | 'failed';

/** A refund as a merchant sees it (M5). */
export interface RefundResponse {
  /** UUID. */
  refundReference: string;
  /** paymentReference of the payment (C3). */
  svcId: string;
  /** Cents. */
  amount: number;
  status: RefundStatus;
  /** ISO 8601 UTC with milliseconds (C2). */
  createdUTCDate: string;
}
