import { Inject, Injectable } from '@nestjs/common';
import type { PartnerPayment } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import { IdempotentCalls } from '../idempotency/idempotent-calls.js';
import { type CurrentPayment, PartnerPaymentRepository, type PaymentOwner } from './partner-payment.repository.js';

export interface IdempotencyKey {
  readonly owner: PaymentOwner;
  /** UUID, made by the client. */
  readonly reference: string;
  /** Fingerprint of the request without card data: the same reference with another request is a conflict. */
  readonly fingerprint: string;
  /** When the client gets a response, whatever the state. */
  readonly deadline: Date;
}

export interface PaymentResult {
  readonly payment: PartnerPayment;
  /** True when an earlier call with this reference made the payment. */
  readonly replayed: boolean;
}

/** Makes at most one payment for each reference of an organisation and mode (C7). */
@Injectable()
export class PaymentIdempotency {
  private readonly calls: IdempotentCalls<CurrentPayment>;

  constructor(
    @Inject(PartnerPaymentRepository) private readonly payments: PartnerPaymentRepository,
    @Inject(Clock) clock: Clock,
  ) {
    const settings = { constraint: 'partner_references_pkey', inProgress: 'payment.in-progress' } as const;
    this.calls = new IdempotentCalls(settings, clock);
  }

  /**
   * Runs `create` unless the reference has a payment, then `finish` with the payment.
   *
   * @param create commits the payment under this key, or throws without any change
   */
  async once(
    { owner, reference, fingerprint, deadline }: IdempotencyKey,
    create: () => Promise<void>,
    finish: (payment: CurrentPayment) => Promise<CurrentPayment>,
  ): Promise<PaymentResult> {
    const { result, replayed } = await this.calls.once({
      id: [owner.organisationId, owner.mode, reference.toLowerCase()].join(),
      find: () => this.payments.findByReference(owner, reference),
      ...{ fingerprint, deadline, create, finish },
    });
    return { ...result, replayed };
  }
}
