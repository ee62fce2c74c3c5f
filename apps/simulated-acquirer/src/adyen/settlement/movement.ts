import type { EmulatorContext } from '../emulator-context.js';
import type { Amount, MovementRecord, MovementType, PaymentRecord } from '../state/records.js';

/**
 * A movement of money, which the next settlement batch contains.
 *
 * @param pspReference of the capture, refund or dispute
 * @param reference the merchant's reference of the modification; `""` if it has none
 */
export function movementOf(
  { store, clock }: EmulatorContext,
  type: MovementType,
  payment: PaymentRecord,
  pspReference: string,
  reference: string,
  amount: Amount = payment.order.amount,
): MovementRecord {
  return {
    kind: 'movement',
    id: store.nextId(),
    type,
    merchantAccount: payment.order.merchantAccount,
    paymentPspReference: payment.pspReference,
    merchantReference: payment.order.reference,
    modificationPspReference: pspReference,
    modificationMerchantReference: reference,
    paymentMethod: payment.order.card.brand,
    amount,
    at: clock.nowText(),
  };
}

/** The movement of a modification, as long as no batch has settled it. */
export function findUnsettled(
  { store }: EmulatorContext,
  type: MovementType,
  pspReference: string,
): MovementRecord | undefined {
  return [...store.movements.values()].find(
    (movement) =>
      movement.batch === undefined && movement.type === type && movement.modificationPspReference === pspReference,
  );
}
