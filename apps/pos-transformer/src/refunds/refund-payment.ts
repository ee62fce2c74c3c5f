import { Inject, Injectable } from '@nestjs/common';
import { Clock, DomainError, formatRands, parsePaymentReference } from '@svc/kernel';
import type { MerchantPayment } from '@svc/sdk';
import { type Answer, mergeAnswers, ok, stop, warn } from '../answers/answer.js';
import { ApplyPayment } from '../payments/apply-payment.js';
import { calculateAmounts } from '../payments/payment.js';
import { PaymentRepository } from '../payments/payment.repository.js';
import { CallSender } from '../platform/call-sender.js';
import { OutgoingCallRepository } from '../platform/outgoing-call.repository.js';
import { Platform } from '../platform/platform.js';
import { Store } from '../store/store.js';
import { findRefusalReason, findRepeatedRefund, isRefundAmount, type Refund } from './refund.js';
import { RefundRepository } from './refund.repository.js';

interface RefundCommand {
  readonly svcId: string;
  readonly amount: number;
  readonly reference: string | undefined;
}

const PAYMENT_NOT_FOUND = stop('There is no such payment.');
const OFFLINE = stop('The payment service cannot be reached, and this payment is not known here. Try again later.');
const QUEUED = warn('The refund is queued, because the payment service has not answered. Hand out no cash.');
const PENDING = warn('The bank has not decided on the refund. Hand out no cash.');
const OUTCOME_UNKNOWN = warn(
  'It is not known whether this refund was made. Check it with the payment service. Hand out no cash.',
);
const REPEATED = warn('The same refund was requested before: this is its result.');

/**
 * Refunds a payment (T10). The refund and its call are stored before the call is sent. Therefore only one refund is
 * made, even if the cashier presses twice, the transformer restarts or a response is lost.
 */
@Injectable()
export class RefundPayment {
  constructor(
    @Inject(Store) private readonly store: Store,
    @Inject(RefundRepository) private readonly refunds: RefundRepository,
    @Inject(PaymentRepository) private readonly payments: PaymentRepository,
    @Inject(ApplyPayment) private readonly applyPayment: ApplyPayment,
    @Inject(OutgoingCallRepository) private readonly calls: OutgoingCallRepository,
    @Inject(Platform) private readonly platform: Platform,
    @Inject(CallSender) private readonly sender: CallSender,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** @param siteId the configured site of SvcRefund requests. The key of this site can refund only its payments. */
  async execute(siteId: number, { svcId: svcIdText, amount, reference }: RefundCommand): Promise<Answer> {
    if (!isRefundAmount(amount)) return stop('RefundAmount must be whole cents of more than 0.');
    const svcId = parsePaymentReference(svcIdText);
    if (svcId === undefined) return PAYMENT_NOT_FOUND;
    const newRefund = { svcId, amountCents: amount, reference };
    const earlier = this.refunds.listEarlier(siteId, svcId, reference);
    const repeated = findRepeatedRefund(newRefund, earlier, this.clock.now());
    if (repeated) return this.answerRepeatedRefund(repeated, svcId, amount);

    const payment = await this.findPayment(siteId, svcId);
    if ('Result' in payment) return payment;
    // A concurrent request may have created the same refund while this request fetched the payment.
    const concurrent = findRepeatedRefund(
      newRefund,
      this.refunds.listEarlier(siteId, svcId, reference),
      this.clock.now(),
    );
    if (concurrent) return this.answerRepeatedRefund(concurrent, svcId, amount);
    const refusal = findRefusalReason(payment, this.refunds.listEarlier(siteId, svcId, undefined), amount);
    if (refusal === 'payment-failed') return stop('This payment failed: there is nothing to give back.');
    if (refusal === 'amount-exceeded')
      return stop(`This is more than is left of the payment of ${formatRands(calculateAmounts(payment).paid)}.`);

    const { refundId, callId } = this.store.transaction((tx) => {
      const id = this.refunds.create(tx, siteId, newRefund);
      return { refundId: id, callId: this.calls.append(tx, { siteId, kind: 'refund', subject: svcId, refundId: id }) };
    });
    await this.sender.waitForOutcome(siteId, 'refunds', callId);
    return refundAnswer(this.refunds.get(refundId));
  }

  private answerRepeatedRefund(refund: Refund, svcId: string, amountCents: number): Answer {
    if (refund.svcId !== svcId || refund.amountCents !== amountCents)
      return stop('This RefundReference was used for another refund.');
    return mergeAnswers(refundAnswer(refund), REPEATED);
  }

  /** Returns the payment from the store or from the platform. If there is none, returns the answer for the till. */
  private async findPayment(siteId: number, svcId: string): Promise<MerchantPayment | Answer> {
    const stored = this.payments.findBySvcId(svcId);
    if (stored) return stored.siteId === siteId ? stored.payment : PAYMENT_NOT_FOUND;
    if (this.sender.isUnreachable(siteId)) return OFFLINE;
    try {
      const payment = await this.platform.site(siteId).payment(svcId);
      if (!payment) return PAYMENT_NOT_FOUND;
      this.store.transaction((tx) => this.applyPayment.apply(tx, siteId, payment));
      return payment;
    } catch (error) {
      // The platform has answered, but the payment cannot be stored.
      if (error instanceof DomainError) throw error;
      return OFFLINE;
    }
  }
}

function refundAnswer({ state, refusal }: Refund): Answer {
  switch (state) {
    case 'succeeded':
      return ok();
    case 'failed':
      return stop('The bank declined the refund. Nothing was given back.');
    case 'refused':
      return stop(`The payment service refuses the refund: ${refusal ?? 'it gave no reason'}`);
    case 'pending':
      return refusal === null ? PENDING : OUTCOME_UNKNOWN;
    case 'queued':
      return QUEUED;
  }
}
