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

/** Test card numbers and their behaviour; every other valid number is approved. The README lists them. */
const BEHAVIOURS: Readonly<Record<string, CardBehaviour>> = {
  '4000000000000002': 'declined',
  '4000000000009995': 'insufficient-funds',
  '4000000000000069': 'expired',
  '4000000000000127': 'incorrect-cvv',
  // Charges, and responds after LATE_RESPONSE_MS.
  '4000000000006009': 'answers-late',
  // Charges, then drops the connection without a response.
  '4000000000004087': 'drops-the-answer',
  // Requires a challenge, and charges after the payer has passed it.
  '4000000000003220': 'asks-for-verification',
  // Declines refunds.
  '4000000000005126': 'refund-declined',
  // A refund is pending, and succeeds at the second poll.
  '4000000000007726': 'refund-pending',
  // Refunds, and responds after LATE_RESPONSE_MS.
  '4000000000007247': 'refund-answers-late',
  // Refunds, then drops the connection without a response.
  '4000000000007262': 'refund-drops-the-answer',
};

const REFUND_BEHAVIOURS: ReadonlySet<CardBehaviour> = new Set([
  'refund-declined',
  'refund-pending',
  'refund-answers-late',
  'refund-drops-the-answer',
]);

const APPROVED_BEHAVIOURS: ReadonlySet<CardBehaviour> = new Set([
  'approved',
  'answers-late',
  'drops-the-answer',
  'asks-for-verification',
  ...REFUND_BEHAVIOURS,
]);

/** A pending refund succeeds at the poll of this number. */
const POLLS_UNTIL_REFUND_SUCCEEDS = 2;

/** Long enough to reload the payment page meanwhile, and below the platform's timeout of 8 s. */
const LATE_RESPONSE_MS = 6_000;

function behaviourOfNumber(cardNumber: string): CardBehaviour {
  return BEHAVIOURS[cardNumber] ?? 'approved';
}

/** The owner of charges and refunds. A key of another account, or of the other mode, is not found. */
export interface BankAccount {
  readonly mode: 'test' | 'live';
  /** The merchant account; undefined if the caller sends none. */
  readonly account: string | undefined;
}

export interface ChargeRequest extends BankAccount {
  readonly key: string;
  readonly paymentReference: string;
  /** Cents. */
  readonly amount: number;
  readonly currency: string;
  /** Exactly one of the three: a card number, a card in the vault, or a challenge that the payer has passed. */
  readonly cardNumber?: string;
  readonly vaultToken?: string;
  readonly challengeReference?: string;
  /** The payer is redirected here after a challenge; without it the bank requires none. */
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

/** The key belongs to another account or mode, or was used with other parameters. */
export class KeyConflictError extends Error {}

/**
 * A bank for development and tests. Like a real one it charges and refunds before it responds, at most once for each key. Charges
 * and refunds can be read, charges can be reversed, and each account has a statement for each day.
 */
export class SimulatedBank {
  constructor(
    private readonly store: ChargeStore,
    private readonly now: () => Date,
  ) {}

  /** Undefined if the bank charges and its response is lost. Throws {@link KeyConflictError}. */
  charge(request: ChargeRequest): ChargeRecord | undefined {
    const behaviour = this.behaviourOf(request);
    assertOwnedBy(this.store.find(request.key), request);
    const record = this.store.find(request.key) ?? this.decide(request, behaviour);
    return behaviour === 'drops-the-answer' ? undefined : record;
  }

  /** Additional delay of the response to a charge. */
  delayMsOf(request: ChargeRequest): number {
    return this.behaviourOf(request) === 'answers-late' ? LATE_RESPONSE_MS : 0;
  }

  /** Stores a card's token and behaviour, without its number. */
  storeCard(cardNumber: string): string {
    return this.store.appendCard({ vaultToken: randomUUID(), behaviour: behaviourOfNumber(cardNumber) }).vaultToken;
  }

  /** Later charges to the card are declined. Deleting a card again, or an unknown one, changes nothing. */
  deleteCard(vaultToken: string): void {
    if (this.store.findCard(vaultToken)) this.store.appendCard({ vaultToken, behaviour: 'declined' });
  }

  find(key: string, caller: BankAccount): ChargeRecord | undefined {
    const record = this.store.find(key);
    return record && isOwnedBy(record, caller) ? record : undefined;
  }

  /**
   * Returns the charged amount that was not yet refunded. Without a charge, the key is blocked: a charge that arrives later is not
   * made. A repeat changes nothing. Throws {@link KeyConflictError}.
   */
  reverse(key: string, caller: BankAccount): ChargeRecord {
    const record = this.store.find(key);
    assertOwnedBy(record, caller);
    if (record?.outcome === 'reversed') return record;
    const isCharged = record?.outcome === 'approved';
    return this.store.append({
      key,
      outcome: 'reversed',
      mode: record?.mode ?? caller.mode,
      ...accountMember(record?.account ?? caller.account),
      ...(isCharged ? { reversedAmount: record.amount - this.store.refundedAmount(key) } : {}),
      at: this.now().toISOString(),
      amount: record?.amount ?? 0,
      currency: record?.currency ?? '',
      paymentReference: record?.paymentReference ?? '',
      acquirerReference: record?.acquirerReference ?? randomUUID(),
      charged: isCharged,
      ...(record?.challenge ? { challenge: record.challenge } : {}),
    });
  }

  /** Undefined if the bank refunds and its response is lost. Throws {@link KeyConflictError}. */
  refund(request: RefundRequest): RefundRecord | undefined {
    const charge = this.find(request.chargeKey, request);
    const known = this.store.findRefund(request.key);
    assertOwnedBy(known, request);
    if (known && (known.chargeKey !== request.chargeKey || known.amount !== request.amount))
      throw new KeyConflictError('This key was used for another refund.');
    const record = known ?? this.decideRefund(request, charge);
    return charge?.refundBehaviour === 'refund-drops-the-answer' ? undefined : record;
  }

  /** Additional delay of the response to a refund. */
  delayMsOfRefund(request: RefundRequest): number {
    const charge = this.find(request.chargeKey, request);
    return charge?.refundBehaviour === 'refund-answers-late' ? LATE_RESPONSE_MS : 0;
  }

  /** The state of a refund; a pending one succeeds after a number of polls. */
  pollRefund(key: string, caller: BankAccount): RefundRecord | undefined {
    const known = this.store.findRefund(key);
    if (!known || !isOwnedBy(known, caller)) return undefined;
    if (known.outcome !== 'pending') return known;
    const asked = known.asked + 1;
    const hasSucceeded = asked >= POLLS_UNTIL_REFUND_SUCCEEDS;
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
    return this.store.findByChallenge(reference);
  }

  /** The payer's answer on the bank's page; the first one counts. Undefined if there is no such challenge. */
  answerChallenge(reference: string, passed: boolean): Challenge | undefined {
    const record = this.store.findByChallenge(reference);
    if (!record) return undefined;
    if (record.outcome !== 'challenged' || record.challenge.state !== 'pending') return record.challenge;
    const challenge: Challenge = { ...record.challenge, state: passed ? 'passed' : 'failed' };
    this.store.append({ ...record, challenge, at: this.now().toISOString() });
    return challenge;
  }

  private behaviourOf({ cardNumber, vaultToken, challengeReference }: ChargeRequest): CardBehaviour {
    if (challengeReference !== undefined) return this.challengeDeclineReason(challengeReference) ?? 'approved';
    if (vaultToken !== undefined) return this.store.findCard(vaultToken)?.behaviour ?? 'declined';
    return behaviourOfNumber(cardNumber ?? '');
  }

  private decide(request: ChargeRequest, behaviour: CardBehaviour): ChargeRecord {
    const { returnUrl } = request;
    const isChallenged = behaviour === 'asks-for-verification' && returnUrl !== undefined;
    const reason = APPROVED_BEHAVIOURS.has(behaviour) ? undefined : (behaviour as DeclineReason);
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
      ...(request.payer ? { payerContext: fieldNames(request.payer) } : {}),
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
    if (this.store.refundedAmount(chargeKey) + amount > charge.amount) return 'exceeds-charge';
    return charge.refundBehaviour === 'refund-declined' ? 'refused' : undefined;
  }

  private challengeDeclineReason(challengeReference: string): DeclineReason | undefined {
    const record = this.store.findByChallenge(challengeReference);
    return record?.outcome === 'challenged' && record.challenge.state === 'passed' ? undefined : 'not-verified';
  }
}

/** Names of the fields, without their values. */
function fieldNames({ browser, ...rest }: NonNullable<ChargeRequest['payer']>): string[] {
  return [...Object.keys(rest), ...Object.keys(browser ?? {}).map((name) => `browser.${name}`)].sort();
}

/** Lines of earlier releases have no account: every caller owns them. */
function isOwnedBy(
  { mode, account }: { readonly mode: string; readonly account?: string },
  caller: BankAccount,
): boolean {
  return mode === caller.mode && (account === undefined || account === caller.account);
}

function assertOwnedBy(
  record: { readonly mode: string; readonly account?: string } | undefined,
  caller: BankAccount,
): void {
  if (record && !isOwnedBy(record, caller)) throw new KeyConflictError('This key belongs to another account.');
}

function accountMember(account: string | undefined): { account?: string } {
  return account === undefined ? {} : { account };
}
