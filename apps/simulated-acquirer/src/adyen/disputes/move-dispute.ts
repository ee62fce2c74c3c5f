import type { EmulatorContext } from '../emulator-context.js';
import { newPspReference } from '../interface/psp-reference.js';
import { movementOf } from '../settlement/movement.js';
import type { DisputeRecord, EmulatorRecord, PaymentRecord } from '../state/records.js';
import { DISPUTE_STAGES } from './dispute-stages.js';

/** Time in which a dispute can be defended. It depends on the card scheme. */
const DEFENSE_PERIOD_MS = 18 * 24 * 3_600_000;

/** The dispute of a payment; a payment has at most one here. */
export function findDispute({ store }: EmulatorContext, payment: PaymentRecord): DisputeRecord | undefined {
  return [...store.disputes.values()].find((dispute) => dispute.paymentPspReference === payment.pspReference);
}

/**
 * Opens a dispute of a captured payment, or moves it to this stage, and reports it by webhook.
 *
 * @param value cents; only for the first stage, by default the captured amount
 * @returns undefined if the stage is not possible
 */
export function moveDispute(
  context: EmulatorContext,
  payment: PaymentRecord,
  eventCode: string,
  value: number | undefined,
): { dispute: DisputeRecord; records: readonly EmulatorRecord[] } | undefined {
  const stage = DISPUTE_STAGES.find((each) => each.eventCode === eventCode);
  if (!stage || payment.state !== 'captured') return undefined;
  const known = findDispute(context, payment) ?? openDispute(context, payment, value);
  if (stage.requiresDebit !== undefined && stage.requiresDebit !== known.isDebited) return undefined;
  if (eventCode === 'SECOND_CHARGEBACK' && !known.events.includes('CHARGEBACK_REVERSED')) return undefined;
  const dispute: DisputeRecord = {
    ...known,
    events: [...known.events, eventCode],
    isDebited: stage.movement === undefined ? known.isDebited : stage.requiresDebit === false,
  };
  const { pspReference, amount } = dispute;
  return {
    dispute,
    records: [
      dispute,
      ...(stage.movement ? [movementOf(context, stage.movement, payment, pspReference, '', amount)] : []),
      ...context.notifications.dispute(eventCode, dispute, payment, {
        disputeStatus: stage.disputeStatus,
        reason: 'Other Fraud-Card Absent Environment',
      }),
    ],
  };
}

function openDispute({ clock }: EmulatorContext, payment: PaymentRecord, value: number | undefined): DisputeRecord {
  const now = clock.now();
  return {
    kind: 'dispute',
    pspReference: newPspReference(),
    paymentPspReference: payment.pspReference,
    amount: { ...payment.order.amount, value: Math.min(value ?? payment.capturedValue, payment.capturedValue) },
    events: [],
    isDebited: false,
    defensePeriodEndsAt: new Date(now.getTime() + DEFENSE_PERIOD_MS).toISOString(),
    at: now.toISOString(),
  };
}
