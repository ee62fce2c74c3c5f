import type { MovementType } from '../state/records.js';

/** A stage of a dispute (documentation: "Dispute webhooks" and "Dispute flow"; OpenAPI document of the webhooks). */
export interface DisputeStage {
  readonly eventCode: string;
  /** `additionalData.disputeStatus` */
  readonly disputeStatus: string;
  /** The movement of money; absent if there is none. */
  readonly movement?: MovementType;
  /** The stage is only possible while the disputed amount is debited (true), or is not (false). */
  readonly requiresDebit?: boolean;
}

export const DISPUTE_STAGES: readonly DisputeStage[] = [
  { eventCode: 'NOTIFICATION_OF_FRAUD', disputeStatus: 'Unresponded' },
  { eventCode: 'REQUEST_FOR_INFORMATION', disputeStatus: 'Unresponded' },
  { eventCode: 'NOTIFICATION_OF_CHARGEBACK', disputeStatus: 'Unresponded' },
  { eventCode: 'CHARGEBACK', disputeStatus: 'Unresponded', movement: 'Chargeback', requiresDebit: false },
  { eventCode: 'INFORMATION_SUPPLIED', disputeStatus: 'Pending' },
  { eventCode: 'DISPUTE_DEFENSE_PERIOD_ENDED', disputeStatus: 'Lost' },
  { eventCode: 'CHARGEBACK_REVERSED', disputeStatus: 'Pending', movement: 'ChargebackReversed', requiresDebit: true },
  { eventCode: 'ISSUER_RESPONSE_TIMEFRAME_EXPIRED', disputeStatus: 'Won' },
  { eventCode: 'SECOND_CHARGEBACK', disputeStatus: 'Lost', movement: 'SecondChargeback', requiresDebit: false },
  { eventCode: 'PREARBITRATION_OPEN', disputeStatus: 'Pending' },
  { eventCode: 'PREARBITRATION_WON', disputeStatus: 'Won' },
  { eventCode: 'PREARBITRATION_LOST', disputeStatus: 'Lost' },
];
