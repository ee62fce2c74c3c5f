import { Inject, Injectable } from '@nestjs/common';
import { Clock, parsePaymentReference } from '@svc/kernel';
import type { MerchantPayment } from '@svc/sdk';
import { type Answer, combine, ok, rands, stop, warn } from '../answers/answer.js';
import { ApplyPayment } from '../payments/apply-payment.js';
import { amountsOf } from '../payments/payment.js';
import { PaymentRepository } from '../payments/payment.repository.js';
import { OutgoingCallRepository } from '../platform/outgoing-call.repository.js';
import { Platform } from '../platform/platform.js';
import { Sender } from '../platform/sender.js';
import { Store } from '../store/store.js';
import { isRefundAmount, type Refund, refundRefusal, repeatedRefund } from './refund.js';
import { RefundRepository } from './refund.repository.js';

export interface RefundCall {
  readonly svcId: string;
  readonly amount: number;
  readonly reference: string | undefined;
}

const UNKNOWN = stop('There is no such payment.');
const OFFLINE = stop('The payment service cannot be reached, and this payment is not known here. Try again later.');
const QUEUED = warn('The refund is queued, because the payment service has not answered. Hand out no cash.');
const PENDING = warn('The bank has not decided on the refund. Hand out no cash.');
const NOT_KNOWN = warn(
  'It is not known whether this refund was made. Ask for it at the payment service. Hand out no cash.',
);
const REPEAT = warn('The same refund was asked for before: this is its answer.');

/**
 * Gives money of a payment back (T10): the refund and its call are kept before the platform is asked, so that a cashier who
 * presses twice, a restart and a lost answer are all the same refund.
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
    @Inject(Sender) private readonly sender: Sender,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** @param siteId the site of the facade, whose payments alone its key can refund */
  async execute(siteId: number, { svcId: given, amount, reference }: RefundCall): Promise<Answer> {
    if (!isRefundAmount(amount)) return stop('RefundAmount must be whole cents of more than 0.');
    const svcId = parsePaymentReference(given);
    if (svcId === undefined) return UNKNOWN;
    const asked = { svcId, amountCents: amount, reference };
    const earlier = this.refunds.listEarlier(siteId, svcId, reference);
    const repeated = repeatedRefund(asked, earlier, this.clock.now());
    if (repeated) return this.answerAgain(repeated, svcId, amount);

    const payment = await this.findPayment(siteId, svcId);
    if ('Result' in payment) return payment;
    // Another call for this payment may have come while the platform was asked for it.
    const again = repeatedRefund(asked, this.refunds.listEarlier(siteId, svcId, reference), this.clock.now());
    if (again) return this.answerAgain(again, svcId, amount);
    const refusal = refundRefusal(payment, this.refunds.listEarlier(siteId, svcId, undefined), amount);
    if (refusal === 'payment-failed') return stop('This payment failed: there is nothing to give back.');
    if (refusal === 'more-than-is-left')
      return stop(`This is more than is left of the payment of ${rands(amountsOf(payment).paid)}.`);

    const { refundId, callId } = this.store.transaction((tx) => {
      const id = this.refunds.create(tx, siteId, asked);
      return { refundId: id, callId: this.calls.append(tx, { siteId, kind: 'refund', subject: svcId, refundId: id }) };
    });
    await this.sender.outcomeOf(siteId, 'refunds', callId);
    return answerOf(this.refunds.get(refundId));
  }

  private answerAgain(refund: Refund, svcId: string, amountCents: number): Answer {
    if (refund.svcId !== svcId || refund.amountCents !== amountCents)
      return stop('This RefundReference was used for another refund.');
    return combine(answerOf(refund), REPEAT);
  }

  /** The payment as it is known here, or at the platform; or the answer where it is not. */
  private async findPayment(siteId: number, svcId: string): Promise<MerchantPayment | Answer> {
    const known = this.payments.findBySvcId(svcId);
    if (known) return known.siteId === siteId ? known.payment : UNKNOWN;
    if (this.sender.isAway(siteId)) return OFFLINE;
    try {
      const payment = await this.platform.site(siteId).payment(svcId);
      if (!payment) return UNKNOWN;
      this.store.transaction((tx) => this.applyPayment.apply(tx, siteId, payment));
      return payment;
    } catch {
      return OFFLINE;
    }
  }
}

function answerOf({ state, refusal }: Refund): Answer {
  switch (state) {
    case 'succeeded':
      return ok();
    case 'failed':
      return stop('The bank declined the refund. Nothing was given back.');
    case 'refused':
      return stop(`The payment service refuses the refund: ${refusal ?? 'it gave no reason'}`);
    case 'pending':
      return refusal === null ? PENDING : NOT_KNOWN;
    case 'queued':
      return QUEUED;
  }
}
