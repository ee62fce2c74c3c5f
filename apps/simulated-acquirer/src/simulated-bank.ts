import { randomUUID } from 'node:crypto';
import type { ChargeStore } from './charge-store.js';
import type {
  CardBehaviour,
  Challenge,
  ChargeRecord,
  DeclineReason,
  RefundBehaviour,
  RefundDeclineReason,
  RefundRecord,
} from './records.js';
import { pageOf, type StatementPage } from './statement.js';

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
  // Takes no refund.
  '4000000000005126': 'refund-declined',
  // Takes a refund as pending, and says that it succeeded when it is asked for the second time.
  '4000000000007726': 'refund-pending',
  // Refunds, and answers after ANSWERS_LATE_MS.
  '4000000000007247': 'refund-answers-late',
  // Refunds, then loses the connection before it answers.
  '4000000000007262': 'refund-drops-the-answer',
};

const REFUND_BEHAVIOURS: ReadonlySet<CardBehaviour> = new Set([
  'refund-declined',
  'refund-pending',
  'refund-answers-late',
  'refund-drops-the-answer',
]);

const WITHOUT_REASON: ReadonlySet<CardBehaviour> = new Set([
  'approved',
  'answers-late',
  'drops-the-answer',
  'asks-for-verification',
  ...REFUND_BEHAVIOURS,
]);

/** A refund that is pending succeeds when it is asked about for this time. */
const PENDING_REFUND_SUCCEEDS_WHEN_ASKED = 2;

/** Long enough to reload the payment page meanwhile, below the platform's time limit of 8 s. */
const ANSWERS_LATE_MS = 6_000;

function behaviourOfNumber(cardNumber: string): CardBehaviour {
  return BEHAVIOURS[cardNumber] ?? 'approved';
}

/** For whom a call is made. A key of another account, or of the other mode, is not found. */
export interface BankAccount {
  readonly mode: 'test' | 'live';
  /** The merchant account; undefined where the caller names none. */
  readonly account: string | undefined;
}

export interface ChargeRequest extends BankAccount {
  readonly key: string;
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
  /** The payer's address, e-mail and browser, as far as they are known. */
  readonly payer?: { readonly browser?: object };
}

export interface RefundRequest extends BankAccount {
  readonly key: string;
  readonly chargeKey: string;
  /** Cents. */
  readonly amount: number;
}

/** The key belongs to another account or mode, or was used for something else. */
export class KeyConflict extends Error {}

/**
 * A bank for development and tests. As a real one it charges and refunds before it answers, at most once for each key, can
 * be asked and told to reverse afterwards, and keeps a statement of each account and day.
 */
export class SimulatedBank {
  constructor(
    private readonly store: ChargeStore,
    private readonly now: () => Date,
  ) {}

  /** Undefined when the bank charges and its answer is lost. Throws {@link KeyConflict}. */
  charge(request: ChargeRequest): ChargeRecord | undefined {
    const behaviour = this.behaviourOf(request);
    refuseForeign(this.store.find(request.key), request);
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

  find(key: string, caller: BankAccount): ChargeRecord | undefined {
    const record = this.store.find(key);
    return record && isOf(record, caller) ? record : undefined;
  }

  /**
   * Gives back what was charged under the key and not yet refunded. Where nothing was, the key is barred: a charge that
   * arrives later is declined. Repeating it changes nothing. Throws {@link KeyConflict}.
   */
  reverse(key: string, caller: BankAccount): ChargeRecord {
    const record = this.store.find(key);
    refuseForeign(record, caller);
    if (record?.outcome === 'reversed') return record;
    const isCharged = record?.outcome === 'approved';
    return this.store.append({
      key,
      outcome: 'reversed',
      mode: record?.mode ?? caller.mode,
      ...accountMember(record?.account ?? caller.account),
      ...(isCharged ? { reversedAmount: record.amount - this.store.refundedOf(key) } : {}),
      at: this.now().toISOString(),
      amount: record?.amount ?? 0,
      currency: record?.currency ?? '',
      paymentReference: record?.paymentReference ?? '',
      acquirerReference: record?.acquirerReference ?? randomUUID(),
      charged: isCharged,
      ...(record?.challenge ? { challenge: record.challenge } : {}),
    });
  }

  /** Undefined when the bank refunds and its answer is lost. Throws {@link KeyConflict}. */
  refund(request: RefundRequest): RefundRecord | undefined {
    const charge = this.find(request.chargeKey, request);
    const known = this.store.findRefund(request.key);
    refuseForeign(known, request);
    if (known && (known.chargeKey !== request.chargeKey || known.amount !== request.amount))
      throw new KeyConflict('This key was used for another refund.');
    const record = known ?? this.decideRefund(request, charge);
    return charge?.refundBehaviour === 'refund-drops-the-answer' ? undefined : record;
  }

  /** How much later than usual the bank answers a refund. */
  delayMsOfRefund(request: RefundRequest): number {
    const charge = this.find(request.chargeKey, request);
    return charge?.refundBehaviour === 'refund-answers-late' ? ANSWERS_LATE_MS : 0;
  }

  /** The state of a refund; a pending one succeeds after it was asked about some times. */
  askRefund(key: string, caller: BankAccount): RefundRecord | undefined {
    const known = this.store.findRefund(key);
    if (!known || !isOf(known, caller)) return undefined;
    if (known.outcome !== 'pending') return known;
    const asked = known.asked + 1;
    const hasSucceeded = asked >= PENDING_REFUND_SUCCEEDS_WHEN_ASKED;
    return this.store.appendRefund({
      ...known,
      asked,
      ...(hasSucceeded ? { outcome: 'succeeded', at: this.now().toISOString() } : {}),
    });
  }

  /** @param day UTC, `2026-11-22` */
  statement(day: string, { mode, account }: BankAccount, after: number): StatementPage {
    return pageOf(this.store.statementOf(day, mode, account), after);
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
    this.store.append({ ...record, challenge, at: this.now().toISOString() });
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
      ...accountMember(request.account),
      amount: request.amount,
      currency: request.currency,
      paymentReference: request.paymentReference,
      acquirerReference: randomUUID(),
      charged: !reason && !isChallenged,
      ...(REFUND_BEHAVIOURS.has(behaviour) ? { refundBehaviour: behaviour as RefundBehaviour } : {}),
      ...(request.payer ? { payerContext: partsOf(request.payer) } : {}),
      at: this.now().toISOString(),
      ...(isChallenged ? { challenge: { reference: randomUUID(), state: 'pending', returnUrl } } : {}),
    });
  }

  private decideRefund(request: RefundRequest, charge: ChargeRecord | undefined): RefundRecord {
    const reason = this.refundRefusal(request, charge);
    const outcome = charge?.refundBehaviour === 'refund-pending' ? 'pending' : 'succeeded';
    return this.store.appendRefund({
      refundKey: request.key,
      chargeKey: request.chargeKey,
      ...(reason ? { outcome: 'declined', reason } : { outcome }),
      mode: request.mode,
      ...accountMember(request.account),
      amount: request.amount,
      currency: charge?.currency ?? '',
      paymentReference: charge?.paymentReference ?? '',
      acquirerReference: randomUUID(),
      asked: 0,
      at: this.now().toISOString(),
    });
  }

  private refundRefusal(
    { amount, chargeKey }: RefundRequest,
    charge: ChargeRecord | undefined,
  ): RefundDeclineReason | undefined {
    if (charge?.outcome !== 'approved') return 'not-charged';
    if (this.store.refundedOf(chargeKey) + amount > charge.amount) return 'exceeds-charge';
    return charge.refundBehaviour === 'refund-declined' ? 'refused' : undefined;
  }

  private refusalAfter(challengeReference: string): DeclineReason | undefined {
    const record = this.store.findChallenged(challengeReference);
    return record?.outcome === 'challenged' && record.challenge.state === 'passed' ? undefined : 'not-verified';
  }
}

/** The names of what is there, never what it says. */
function partsOf({ browser, ...rest }: NonNullable<ChargeRequest['payer']>): string[] {
  return [...Object.keys(rest), ...Object.keys(browser ?? {}).map((name) => `browser.${name}`)].sort();
}

/** Lines of earlier releases name no account: they belong to whoever asks. */
function isOf({ mode, account }: { readonly mode: string; readonly account?: string }, caller: BankAccount): boolean {
  return mode === caller.mode && (account === undefined || account === caller.account);
}

function refuseForeign(
  record: { readonly mode: string; readonly account?: string } | undefined,
  caller: BankAccount,
): void {
  if (record && !isOf(record, caller)) throw new KeyConflict('This key belongs to another account.');
}

function accountMember(account: string | undefined): { account?: string } {
  return account === undefined ? {} : { account };
}
