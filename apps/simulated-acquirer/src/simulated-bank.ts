import { randomUUID } from 'node:crypto';
import type { CardBehaviour, Challenge, ChargeRecord, ChargeStore, DeclineReason } from './charge-store.js';

/** Test numbers and what they do; every other valid number is approved. The README lists them for people. */
const BEHAVIOURS: Readonly<Record<string, CardBehaviour>> = {
  '4000000000000002': 'declined',
  '4000000000009995': 'insufficient-funds',
  '4000000000000069': 'expired',
  '4000000000000127': 'incorrect-cvv',
  // Charges, and answers after ANSWERS_LATE_MS.
  '4000000000006009': 'answers-late',
  // Charges, then loses the connection before it answers.
  '4000000000004087': 'drops-the-answer',
  // Asks the payer to verify who he is, and charges when he has.
  '4000000000003220': 'asks-for-verification',
};

const WITHOUT_REASON: ReadonlySet<CardBehaviour> = new Set([
  'approved',
  'answers-late',
  'drops-the-answer',
  'asks-for-verification',
]);

/** Long enough to reload the payment page meanwhile, below the platform's time limit of 8 s. */
const ANSWERS_LATE_MS = 6_000;

function behaviourOfNumber(cardNumber: string): CardBehaviour {
  return BEHAVIOURS[cardNumber] ?? 'approved';
}

export interface ChargeRequest {
  readonly key: string;
  readonly mode: 'test' | 'live';
  readonly paymentReference: string;
  /** Cents. */
  readonly amount: number;
  readonly currency: string;
  /** Or a card in the vault, or the challenge that its owner has passed. */
  readonly cardNumber?: string;
  readonly vaultToken?: string;
  readonly challengeReference?: string;
  /** Where the payer goes on after a challenge; without it the bank asks for none. */
  readonly returnUrl?: string;
}

/**
 * A bank for development and tests. As a real one it charges before it answers, at most once for each key, and can
 * be asked and told to reverse afterwards.
 */
export class SimulatedBank {
  constructor(private readonly store: ChargeStore) {}

  /** Undefined when the bank charges and its answer is lost. */
  charge(request: ChargeRequest): ChargeRecord | undefined {
    const behaviour = this.behaviourOf(request);
    const record = this.store.find(request.key) ?? this.decide(request, behaviour);
    return behaviour === 'drops-the-answer' ? undefined : record;
  }

  /** How much later than usual the bank answers a charge. */
  delayMsOf(request: ChargeRequest): number {
    return this.behaviourOf(request) === 'answers-late' ? ANSWERS_LATE_MS : 0;
  }

  /** Keeps a card: what stands for it, and how it behaves. The number itself is kept nowhere. */
  storeCard(cardNumber: string): string {
    return this.store.appendCard({ vaultToken: randomUUID(), behaviour: behaviourOfNumber(cardNumber) }).vaultToken;
  }

  /** From then on a charge to it is declined. Repeating it, or forgetting what was never there, changes nothing. */
  forgetCard(vaultToken: string): void {
    if (this.store.findCard(vaultToken)) this.store.appendCard({ vaultToken, behaviour: 'declined' });
  }

  find(key: string): ChargeRecord | undefined {
    return this.store.find(key);
  }

  /**
   * Gives back what was charged under the key. Where nothing was, the key is barred: a charge that arrives later is
   * declined. Repeating it changes nothing.
   */
  reverse(key: string, mode: 'test' | 'live'): ChargeRecord {
    const record = this.store.find(key);
    if (record?.outcome === 'reversed') return record;
    return this.store.append({
      key,
      outcome: 'reversed',
      mode: record?.mode ?? mode,
      amount: record?.amount ?? 0,
      currency: record?.currency ?? '',
      paymentReference: record?.paymentReference ?? '',
      acquirerReference: record?.acquirerReference ?? randomUUID(),
      charged: record?.outcome === 'approved',
      ...(record?.challenge ? { challenge: record.challenge } : {}),
    });
  }

  findChallenge(reference: string): ChargeRecord | undefined {
    return this.store.findChallenged(reference);
  }

  /** The payer's answer on the bank's page; the first one counts. Undefined where there is nothing to answer. */
  answerChallenge(reference: string, passed: boolean): Challenge | undefined {
    const record = this.store.findChallenged(reference);
    if (!record) return undefined;
    if (record.outcome !== 'challenged' || record.challenge.state !== 'pending') return record.challenge;
    const challenge: Challenge = { ...record.challenge, state: passed ? 'passed' : 'failed' };
    this.store.append({ ...record, challenge });
    return challenge;
  }

  private behaviourOf({ cardNumber, vaultToken, challengeReference }: ChargeRequest): CardBehaviour {
    if (challengeReference !== undefined) return this.refusalAfter(challengeReference) ?? 'approved';
    if (vaultToken !== undefined) return this.store.findCard(vaultToken)?.behaviour ?? 'declined';
    return behaviourOfNumber(cardNumber ?? '');
  }

  private decide(request: ChargeRequest, behaviour: CardBehaviour): ChargeRecord {
    const { returnUrl } = request;
    const isChallenged = behaviour === 'asks-for-verification' && returnUrl !== undefined;
    const reason = WITHOUT_REASON.has(behaviour) ? undefined : (behaviour as DeclineReason);
    return this.store.append({
      key: request.key,
      outcome: isChallenged ? 'challenged' : reason ? 'declined' : 'approved',
      ...(reason ? { reason } : {}),
      mode: request.mode,
      amount: request.amount,
      currency: request.currency,
      paymentReference: request.paymentReference,
      acquirerReference: randomUUID(),
      charged: !reason && !isChallenged,
      ...(isChallenged ? { challenge: { reference: randomUUID(), state: 'pending', returnUrl } } : {}),
    });
  }

  private refusalAfter(challengeReference: string): DeclineReason | undefined {
    const record = this.store.findChallenged(challengeReference);
    return record?.outcome === 'challenged' && record.challenge.state === 'passed' ? undefined : 'not-verified';
  }
}
