/**
 * The stage of a dispute (M8). `inquiry`: the payer's bank asks for information. `opened`: a chargeback was announced,
 * and no money has moved. `debited`: the amount was deducted from the merchant. `reversed`: the amount was returned, and
 * may be deducted again. `won` and `lost`: the decision.
 */
export type DisputeStage = 'inquiry' | 'opened' | 'debited' | 'reversed' | 'won' | 'lost';

/** A dispute in the merchant's API (M8). */
export interface DisputeResponse {
  /**
   * UUID.
   * @schema uuid
   */
  disputeReference: string;
  /** paymentReference of the payment (C3). */
  svcId: string;
  stage: DisputeStage;
  /** Disputed amount in cents: all or a part of the payment. Earlier refunds do not reduce it. */
  amount: number;
  /** The card scheme's reason code and the acquirer's text, at most 200 characters; `""` when unknown. */
  reason: string;
  /**
   * Until when the merchant can respond, in the acquirer's own customer area; absent when no response is possible or
   * necessary. ISO 8601 UTC with milliseconds (C2).
   */
  respondByUTCDate?: string;
  /** ISO 8601 UTC with milliseconds (C2). */
  createdUTCDate: string;
}
