import { setTimeout as pause } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import type { AuthenticatedMerchant } from '@svc/auth';
import type { CreateRefundRequest, RefundResponse } from '@svc/contracts';
import { Clock, DomainError, parsePaymentReference } from '@svc/kernel';
import { IdempotentCalls } from '../idempotency/idempotent-calls.js';
import { RecoverRefunds } from './recover-refunds.js';
import { fingerprintOf, type RefundRefusal, refundRefusal } from './refund.js';
import { type CurrentRefund, type NewRefund, type PaymentToRefund, RefundRepository } from './refund.repository.js';
import { SendRefund } from './send-refund.js';

/** A refund whose outcome is not known by then is answered as `pending` (M5). */
const ANSWER_MS_MAX = 20_000;
/** How often the outcome of a pending refund is looked for. */
const LOOK_AGAIN_MS = 500;
/** However often it is looked for, the acquirer is asked no more often than this. */
const ASK_AGAIN_AFTER_MS = 1_000;

/** One call of a merchant. */
export interface RefundCall {
  /** The payment (C3), as the merchant wrote it. */
  readonly svcId: string;
  /** 1 to 100 characters; its scope is merchant and mode. */
  readonly idempotencyKey: string;
  readonly request: CreateRefundRequest;
}

export interface MadeRefund {
  readonly refund: RefundResponse;
  /** Whether an earlier call with this key made it. */
  readonly replayed: boolean;
}

/**
 * Gives money of a payment back (M5): (1) commit the decision, which reserves the amount, (2) call the acquirer under the
 * refund's id, outside any transaction, (3) commit the outcome. A crash after (1) leaves a pending refund that
 * {@link RecoverRefunds} asks the acquirer about. A repeat of the Idempotency-Key finds the refund and sends nothing.
 */
@Injectable()
export class CreateRefund {
  private readonly calls: IdempotentCalls<CurrentRefund>;

  constructor(
    @Inject(RefundRepository) private readonly refunds: RefundRepository,
    @Inject(SendRefund) private readonly sendRefund: SendRefund,
    @Inject(RecoverRefunds) private readonly recoverRefunds: RecoverRefunds,
    @Inject(Clock) private readonly clock: Clock,
  ) {
    const settings = { constraint: 'refund_idempotency_keys_pkey', inProgress: 'refund.in-progress' } as const;
    this.calls = new IdempotentCalls(settings, clock);
  }

  /**
   * Throws `resource.not-found` for a payment that is not this merchant's, or not of this key's site; 422 where it cannot be
   * given back, or not so much; `request.idempotency-conflict` where the key was used for another refund.
   */
  async execute(merchant: AuthenticatedMerchant, { svcId, idempotencyKey, request }: RefundCall): Promise<MadeRefund> {
    // Before the key is looked up: a site's key must not learn of refunds of other sites.
    const payment = await this.getPayment(merchant, svcId);
    const { amount } = request;
    const reason = request.reason ?? undefined;
    const fingerprint = fingerprintOf(payment.paymentReference, amount, reason);
    const until = this.clock.later(ANSWER_MS_MAX);
    const wanted = { owner: merchant, idempotencyKey, fingerprint, amount, reason, requestedBy: merchant.keyId };
    const { made, replayed } = await this.calls.once({
      id: [merchant.merchantId, merchant.mode, idempotencyKey].join(' '),
      fingerprint,
      until,
      find: () => this.refunds.findByKey(merchant, idempotencyKey),
      make: () => this.make({ ...wanted, payment }),
      finish: (refund) => this.awaitOutcome(merchant, idempotencyKey, until, refund),
    });
    return { refund: made.refund, replayed };
  }

  /** The refunds of a payment, the newest first. */
  async list(merchant: AuthenticatedMerchant, svcId: string): Promise<RefundResponse[]> {
    return this.refunds.list(await this.getPayment(merchant, svcId));
  }

  private async getPayment(merchant: AuthenticatedMerchant, svcId: string): Promise<PaymentToRefund> {
    const paymentReference = parsePaymentReference(svcId);
    const payment =
      paymentReference === undefined ? undefined : await this.refunds.findPayment(merchant, paymentReference);
    if (!payment) throw new DomainError('resource.not-found', { message: 'There is no such payment.' });
    return payment;
  }

  /** Throws where the refund is refused. */
  private async make(wanted: NewRefund): Promise<void> {
    const refusal = refundRefusal(wanted.payment, wanted.amount);
    if (refusal) throw refusalError(refusal, wanted.payment);
    const refund = await this.refunds.create(wanted);
    // Another refund has taken the rest since the payment was read.
    if (!refund) throw refusalError('refund.amount-exceeded', wanted.payment);
    await this.sendRefund.execute(refund);
  }

  /** Answers with the outcome, or with `pending` when the time is over. */
  private async awaitOutcome(
    merchant: AuthenticatedMerchant,
    idempotencyKey: string,
    until: Date,
    made: CurrentRefund,
  ): Promise<CurrentRefund> {
    let current = made;
    for (let look = 1; current.refund.status === 'pending' && this.clock.now() < until; look++) {
      if (look > 1) await pause(LOOK_AGAIN_MS);
      const due = await this.refunds.claimLookedAt(
        current.refund.refundReference,
        this.clock.later(-ASK_AGAIN_AFTER_MS),
      );
      if (due) await this.recoverRefunds.recover(due);
      current = (await this.refunds.findByKey(merchant, idempotencyKey)) ?? current;
    }
    return current;
  }
}

function refusalError(refusal: RefundRefusal, { state, paymentMethodType }: PaymentToRefund): DomainError {
  if (refusal === 'refund.amount-exceeded') return new DomainError(refusal);
  if (state !== 'success')
    return new DomainError(refusal, { message: 'Only a payment that succeeded can be refunded.' });
  const message =
    paymentMethodType === 'External'
      ? 'This payment was made elsewhere. Give it back there.'
      : 'Vouchers covered all of this payment: there is no money to give back.';
  return new DomainError(refusal, { message });
}
