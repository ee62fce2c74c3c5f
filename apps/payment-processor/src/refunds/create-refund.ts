import { setTimeout as pause } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import type { AuthenticatedMerchant } from '@svc/auth';
import type { CreateRefundRequest, RefundResponse } from '@svc/contracts';
import { Clock, describeCents, DomainError, parsePaymentReference } from '@svc/kernel';
import { IdempotentCalls } from '../idempotency/idempotent-calls.js';
import { RestoreGate } from '../restore-gate/restore-gate.js';
import { paymentNotFoundError } from '../svc-id.js';
import { RecoverRefunds } from './recover-refunds.js';
import { computeFingerprint, findRefundRefusal, limitRefunds, refundableAmount, type RefundRefusal } from './refund.js';
import { type CurrentRefund, type NewRefund, type PaymentToRefund, RefundRepository } from './refund.repository.js';
import { SendRefund } from './send-refund.js';

/** If the outcome is still unknown after this time, the refund is returned as `pending` (M5). */
const RESPONSE_TIMEOUT_MS = 20_000;
/** Interval at which the outcome of a pending refund is polled. */
const POLL_INTERVAL_MS = 500;
/** Limits the queries to the acquirer, independently of how often a refund is polled. */
const MIN_QUERY_INTERVAL_MS = 1_000;

/** A merchant's call to refund a payment. */
interface RefundCall {
  /** The payment (C3), as the merchant sent it. */
  readonly svcId: string;
  /** 1 to 100 characters, unique for the merchant and mode. */
  readonly idempotencyKey: string;
  readonly request: CreateRefundRequest;
  /** Cents. The limit of a person for all refunds of the payment together. Absent: all that was charged. */
  readonly maxRefundedAmount?: number;
}

interface RefundResult {
  readonly refund: RefundResponse;
  /** True when an earlier call with this key created the refund. */
  readonly replayed: boolean;
}

/**
 * Refunds a payment (M5). The steps: (1) commit the refund, which reserves its amount, (2) call the acquirer outside
 * any transaction, with the refund's id as idempotency key, (3) commit the outcome. If the process crashes after step
 * 1, {@link RecoverRefunds} ends the pending refund. A retry with the same Idempotency-Key returns the refund and sends
 * nothing to the acquirer.
 */
@Injectable()
export class CreateRefund {
  private readonly calls: IdempotentCalls<CurrentRefund>;

  constructor(
    @Inject(RefundRepository) private readonly refunds: RefundRepository,
    @Inject(SendRefund) private readonly sendRefund: SendRefund,
    @Inject(RecoverRefunds) private readonly recoverRefunds: RecoverRefunds,
    @Inject(RestoreGate) private readonly restoreGate: RestoreGate,
    @Inject(Clock) private readonly clock: Clock,
  ) {
    const settings = { constraint: 'refund_idempotency_keys_pkey', inProgress: 'refund.in-progress' } as const;
    this.calls = new IdempotentCalls(settings, clock);
  }

  /**
   * Throws `resource.not-found` for a payment of another merchant, and for a payment of another site than the site of
   * the API key. Throws 422 when the payment cannot be refunded, or when this amount is too high. Throws
   * `request.idempotency-conflict` when the key was used for another refund.
   */
  async execute(
    merchant: AuthenticatedMerchant,
    { svcId, idempotencyKey, request, maxRefundedAmount }: RefundCall,
  ): Promise<RefundResult> {
    await this.restoreGate.assertOpen();
    // The payment is checked before the idempotency key, because a site's API key must not reveal refunds of other
    // sites.
    const payment = await this.getPayment(merchant, svcId);
    const { amount } = request;
    const reason = request.reason ?? undefined;
    const fingerprint = computeFingerprint(payment.paymentReference, amount, reason);
    const deadline = this.clock.later(RESPONSE_TIMEOUT_MS);
    const limits = { amount, maxRefundedAmount };
    const newRefund = { owner: merchant, idempotencyKey, fingerprint, ...limits, reason, requestedBy: merchant.keyId };
    const { result, replayed } = await this.calls.runOncePerKey({
      id: [merchant.merchantId, merchant.mode, idempotencyKey].join(' '),
      fingerprint,
      deadline,
      find: () => this.refunds.findByKey(merchant, idempotencyKey),
      create: () => this.create({ ...newRefund, payment }),
      finish: (refund) => this.awaitOutcome(merchant, idempotencyKey, deadline, refund),
    });
    return { refund: result.refund, replayed };
  }

  /** The refunds of a payment, newest first. */
  async list(merchant: AuthenticatedMerchant, svcId: string): Promise<RefundResponse[]> {
    return this.refunds.list(await this.getPayment(merchant, svcId));
  }

  private async getPayment(merchant: AuthenticatedMerchant, svcId: string): Promise<PaymentToRefund> {
    const paymentReference = parsePaymentReference(svcId);
    const payment =
      paymentReference === undefined ? undefined : await this.refunds.findPayment(merchant, paymentReference);
    if (!payment) throw paymentNotFoundError();
    return payment;
  }

  /** Throws when the payment cannot be refunded by this amount. */
  private async create(newRefund: NewRefund): Promise<void> {
    const { maxRefundedAmount } = newRefund;
    const limited = limitRefunds(newRefund.payment, maxRefundedAmount);
    const refusal = findRefundRefusal(limited, newRefund.amount);
    if (refusal) throw refusalError(refusal, limited);
    const refund = await this.refunds.create(newRefund);
    // Another refund has reserved the remaining amount since the payment was read.
    if (!refund) {
      const { owner, payment } = newRefund;
      const current = await this.refunds.findPayment(owner, payment.paymentReference);
      throw refusalError('refund.amount-exceeded', limitRefunds(current ?? payment, maxRefundedAmount));
    }
    await this.sendRefund.execute(refund);
  }

  /** Waits for the outcome. Returns the refund as `pending` at the deadline. */
  private async awaitOutcome(
    merchant: AuthenticatedMerchant,
    idempotencyKey: string,
    deadline: Date,
    refund: CurrentRefund,
  ): Promise<CurrentRefund> {
    let current = refund;
    for (let poll = 1; current.refund.status === 'pending' && this.clock.now() < deadline; poll++) {
      if (poll > 1) await pause(POLL_INTERVAL_MS);
      const dueRefund = await this.refunds.leaseForPoll(
        current.refund.refundReference,
        this.clock.later(-MIN_QUERY_INTERVAL_MS),
      );
      if (dueRefund) await this.recoverRefunds.recover(dueRefund);
      current = (await this.refunds.findByKey(merchant, idempotencyKey)) ?? current;
    }
    return current;
  }
}

function refusalError(refusal: RefundRefusal, payment: PaymentToRefund): DomainError {
  const { state, paymentMethodType, capture, pendingAmount } = payment;
  if (refusal === 'refund.amount-exceeded') {
    const pending = pendingAmount > 0 ? ` Pending refunds reserve ${describeCents(pendingAmount)}.` : '';
    const message = `The refund is more than what is left of this payment: ${describeCents(refundableAmount(payment))}.${pending}`;
    return new DomainError(refusal, { message });
  }
  if (state !== 'success')
    return new DomainError(refusal, { message: 'Only a payment that succeeded can be refunded.' });
  if (capture === 'failed')
    return new DomainError(refusal, { message: 'The card could not be charged, so there is no money to give back.' });
  const message =
    paymentMethodType === 'External'
      ? 'This payment was made elsewhere. Give it back there.'
      : 'Vouchers covered all of this payment: there is no money to give back.';
  return new DomainError(refusal, { message });
}
