import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { DeclineCode } from './acquirer.js';
import { Acquirer, type AskedOutcome, type CardCharge, type ChargeOutcome, type ReversalOutcome } from './acquirer.js';
import type { ChargeRecord, SimulatedAcquirerStore } from './simulated-acquirer-store.js';

/** Test numbers and what they do; every other valid number is approved. `docs/testing.md` lists them for people. */
const DECLINES: Readonly<Record<string, DeclineCode>> = {
  '4000000000000002': 'card.declined',
  '4000000000009995': 'card.insufficient-funds',
  '4000000000000069': 'card.expired',
  '4000000000000127': 'card.incorrect-cvv',
};
/** Charges, then loses the connection before it answers. */
const DROPS_THE_ANSWER = '4000000000004087';

/**
 * An acquirer for development and tests. It charges before it answers, as a real one does, keeps what it charged in
 * a file, and so can be asked afterwards, by the platform or by a test, what really happened.
 */
export class SimulatedAcquirer extends Acquirer {
  override readonly name = 'simulated';

  constructor(
    private readonly store: SimulatedAcquirerStore,
    private readonly latencyMs: number,
  ) {
    super();
  }

  override async charge(charge: CardCharge, signal: AbortSignal): Promise<ChargeOutcome> {
    const record = this.store.find(charge.idempotencyKey) ?? this.decide(charge);
    try {
      if (this.latencyMs > 0) await delay(this.latencyMs, undefined, { signal });
    } catch {
      return { kind: 'unknown' };
    }
    return charge.card.cardNumber === DROPS_THE_ANSWER ? { kind: 'unknown' } : asOutcome(record);
  }

  override ask(idempotencyKey: string): Promise<AskedOutcome> {
    const record = this.store.find(idempotencyKey);
    return Promise.resolve(record ? asOutcome(record) : { kind: 'notFound' });
  }

  override reverse(idempotencyKey: string): Promise<ReversalOutcome> {
    const record = this.store.find(idempotencyKey);
    if (record?.outcome !== 'reversed') {
      this.store.append({
        key: idempotencyKey,
        outcome: 'reversed',
        amount: record?.amount ?? 0,
        currency: record?.currency ?? '',
        paymentReference: record?.paymentReference ?? '',
        acquirerReference: record?.acquirerReference ?? randomUUID(),
        charged: record?.outcome === 'approved',
      });
    }
    const charged = record?.outcome === 'approved' || (record?.outcome === 'reversed' && record.charged);
    return Promise.resolve({ kind: charged ? 'reversed' : 'neverCharged' });
  }

  private decide(charge: CardCharge): ChargeRecord {
    const reason = DECLINES[charge.card.cardNumber];
    return this.store.append({
      key: charge.idempotencyKey,
      outcome: reason ? 'declined' : 'approved',
      ...(reason ? { reason } : {}),
      amount: charge.amount,
      currency: charge.currencyISOCode,
      paymentReference: charge.paymentReference,
      acquirerReference: randomUUID(),
      charged: !reason,
    });
  }
}

function asOutcome(record: ChargeRecord): Exclude<ChargeOutcome, { kind: 'notAttempted' }> {
  const { acquirerReference } = record;
  if (record.outcome === 'approved') return { kind: 'approved', acquirerReference };
  // A charge that arrives after its key was reversed is refused: that is what makes a reversal final.
  return { kind: 'declined', reason: (record.reason as DeclineCode | undefined) ?? 'card.declined', acquirerReference };
}
