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
import { type StatementPage, statementPage } from './statement.js';
import { cardBehaviour } from './test-cards.js';

const REFUND_BEHAVIOURS: ReadonlySet<CardBehaviour> = new Set([
  'refund-declined',
  'refund-pending',
  'refund-responds-late',
  'refund-drops-the-response',
]);

const APPROVED_BEHAVIOURS: ReadonlySet<CardBehaviour> = new Set([
  'approved',
  'responds-late',
  'drops-the-response',
  'requires-verification',
  ...REFUND_BEHAVIOURS,
]);

/** A pending refund succeeds at the poll of this number. */
const POLLS_UNTIL_REFUND_SUCCEEDS = 2;

/**
 * Delay of a late response. It is long enough that a tester can reload the payment page meanwhile, but below the
 * platform's timeout of 8 s.
 */
const LATE_RESPONSE_MS = 6_000;

/** The owner of charges and refunds. A key of another account, or of the other mode, is not found. */
export interface BankAccount {
  readonly mode: 'test' | 'live';
  /** The merchant account; `""` if the caller sends none. */
  readonly account: string;
}

export interface ChargeRequest extends BankAccount {
  readonly key: string;
  readonly paymentReference: string;
  /** Cents. */
  readonly amount: number;
  readonly currency: string;
  /**
   * A request has exactly one of `cardNumber`, `vaultToken` (a stored card) and `challengeReference` (a passed
   * challenge).
   */
  readonly cardNumber?: string;
  /** The CVV of the card with the `cardNumber`. Not stored. */
  readonly cvv?: string;
  readonly vaultToken?: string;
  readonly challengeReference?: string;
  /** The payer is redirected here after a challenge. Without a returnUrl, the bank requires no challenge. */
  readonly returnUrl?: string;
  /** The bank requires a challenge for every card. */
  readonly forceVerification?: boolean;
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
 * A bank for development and tests. Like a real bank, it charges and refunds before it responds, at most once for each
 * key. Charges and refunds can be read, charges can be reversed, and each account has a statement for each day.
 */
export class SimulatedBank {
  constructor(
    private readonly store: ChargeStore,
    private readonly now: () => Date,
  ) {}

  /** Charges a card. Returns undefined if the response must be lost. Throws {@link KeyConflictError}. */
  charge(request: ChargeRequest): ChargeRecord | undefined {
    const behaviour = this.findBehaviour(request);
    assertOwnedBy(this.store.findCharge(request.key), request);
    const record = this.store.findCharge(request.key) ?? this.createCharge(request, behaviour);
    return behaviour === 'drops-the-response' ? undefined : record;
  }

  /** Additional delay of the response to a charge. */
  chargeResponseDelayMs(request: ChargeRequest): number {
    return this.findBehaviour(request) === 'responds-late' ? LATE_RESPONSE_MS : 0;
  }

  /** Stores a card's token and behaviour, without its number. */
  storeCard(cardNumber: string): string {
    return this.store.appendCard({ vaultToken: randomUUID(), behaviour: cardBehaviour(cardNumber) }).vaultToken;
  }

  /** Makes the bank decline later charges to the card. Deleting a card again, or an unknown card, changes nothing. */
  deleteCard(vaultToken: string): void {
    if (this.store.findCard(vaultToken)) this.store.appendCard({ vaultToken, behaviour: 'declined' });
  }

  findCharge(key: string, caller: BankAccount): ChargeRecord | undefined {
    const record = this.store.findCharge(key);
    return record && isOwnedBy(record, caller) ? record : undefined;
  }

  /**
   * Returns to the payer the charged amount that is not yet refunded. If there is no charge, the key is blocked: a
   * charge that arrives later is not executed. A repeat changes nothing. Throws {@link KeyConflictError}.
   */
  reverse(key: string, caller: BankAccount): ChargeRecord {
    const record = this.store.findCharge(key);
    assertOwnedBy(record, caller);
    if (record?.outcome === 'reversed') return record;
    const isCharged = record?.outcome === 'approved';
    return this.store.appendCharge({
      key,
      outcome: 'reversed',
      mode: caller.mode,
      account: caller.account,
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

  /** Refunds a charge. Returns undefined if the response must be lost. Throws {@link KeyConflictError}. */
  refund(request: RefundRequest): RefundRecord | undefined {
    const charge = this.findCharge(request.chargeKey, request);
    const known = this.store.findRefund(request.key);
    assertOwnedBy(known, request);
    if (known && (known.chargeKey !== request.chargeKey || known.amount !== request.amount))
      throw new KeyConflictError('This key was used for another refund.');
    const record = known ?? this.createRefund(request, charge);
    return charge?.refundBehaviour === 'refund-drops-the-response' ? undefined : record;
  }

  /** Additional delay of the response to a refund. */
  refundResponseDelayMs(request: RefundRequest): number {
    const charge = this.findCharge(request.chargeKey, request);
    return charge?.refundBehaviour === 'refund-responds-late' ? LATE_RESPONSE_MS : 0;
  }

  /** The state of a refund. A pending refund succeeds after {@link POLLS_UNTIL_REFUND_SUCCEEDS} polls. */
  pollRefund(key: string, caller: BankAccount): RefundRecord | undefined {
    const known = this.store.findRefund(key);
    if (!known || !isOwnedBy(known, caller)) return undefined;
    if (known.outcome !== 'pending') return known;
    const polls = known.polls + 1;
    const hasSucceeded = polls >= POLLS_UNTIL_REFUND_SUCCEEDS;
    return this.store.appendRefund({
      ...known,
      polls,
      ...(hasSucceeded ? { outcome: 'succeeded', at: this.now().toISOString() } : {}),
    });
  }

  /** @param day UTC, `2026-11-22` */
  statement(day: string, { mode, account }: BankAccount, after: number): StatementPage {
    return statementPage(this.store.findStatement(day, mode, account), after);
  }

  findChallenge(reference: string): ChargeRecord | undefined {
    return this.store.findByChallenge(reference);
  }

  /**
   * Stores the payer's choice on the bank's page. Only the first choice is valid. Returns undefined if there is no such
   * challenge.
   */
  completeChallenge(reference: string, passed: boolean): Challenge | undefined {
    const record = this.store.findByChallenge(reference);
    if (!record) return undefined;
    if (record.outcome !== 'challenged' || record.challenge.state !== 'pending') return record.challenge;
    const challenge: Challenge = { ...record.challenge, state: passed ? 'passed' : 'failed' };
    this.store.appendCharge({ ...record, challenge, at: this.now().toISOString() });
    return challenge;
  }

  private findBehaviour({ cardNumber, cvv, vaultToken, challengeReference }: ChargeRequest): CardBehaviour {
    if (challengeReference !== undefined) return this.challengeDeclineReason(challengeReference) ?? 'approved';
    if (vaultToken !== undefined) return this.store.findCard(vaultToken)?.behaviour ?? 'declined';
    return cardBehaviour(cardNumber ?? '', cvv);
  }

  private createCharge(request: ChargeRequest, behaviour: CardBehaviour): ChargeRecord {
    const { returnUrl, challengeReference, forceVerification = false } = request;
    const isForced = forceVerification && challengeReference === undefined;
    const isChallenged = (isForced || behaviour === 'requires-verification') && returnUrl !== undefined;
    const reason = APPROVED_BEHAVIOURS.has(behaviour) ? undefined : (behaviour as DeclineReason);
    return this.store.appendCharge({
      key: request.key,
      outcome: isChallenged ? 'challenged' : reason ? 'declined' : 'approved',
      ...(reason ? { reason } : {}),
      mode: request.mode,
      account: request.account,
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

  private createRefund(request: RefundRequest, charge: ChargeRecord | undefined): RefundRecord {
    const reason = this.refundDeclineReason(request, charge);
    const outcome = charge?.refundBehaviour === 'refund-pending' ? 'pending' : 'succeeded';
    return this.store.appendRefund({
      refundKey: request.key,
      chargeKey: request.chargeKey,
      ...(reason ? { outcome: 'declined', reason } : { outcome }),
      mode: request.mode,
      account: request.account,
      amount: request.amount,
      currency: charge?.currency ?? '',
      paymentReference: charge?.paymentReference ?? '',
      acquirerReference: randomUUID(),
      polls: 0,
      at: this.now().toISOString(),
    });
  }

  private refundDeclineReason(
    { amount, chargeKey }: RefundRequest,
    charge: ChargeRecord | undefined,
  ): RefundDeclineReason | undefined {
    if (charge?.outcome !== 'approved') return 'not-charged';
    if (this.store.refundedAmount(chargeKey) + amount > charge.amount) return 'exceeds-charge';
    return charge.refundBehaviour === 'refund-declined' ? 'refused' : undefined;
  }

  private challengeDeclineReason(challengeReference: string): DeclineReason | undefined {
    const record = this.store.findByChallenge(challengeReference);
    return record?.outcome === 'challenged' && record.challenge.state === 'passed' ? record.reason : 'not-verified';
  }
}

/** Names of the fields, without their values. */
function fieldNames({ browser, ...rest }: NonNullable<ChargeRequest['payer']>): string[] {
  return [...Object.keys(rest), ...Object.keys(browser ?? {}).map((name) => `browser.${name}`)].sort();
}

function isOwnedBy({ mode, account }: BankAccount, caller: BankAccount): boolean {
  return mode === caller.mode && account === caller.account;
}

function assertOwnedBy(record: BankAccount | undefined, caller: BankAccount): void {
  if (record && !isOwnedBy(record, caller)) throw new KeyConflictError('This key belongs to another account.');
}
