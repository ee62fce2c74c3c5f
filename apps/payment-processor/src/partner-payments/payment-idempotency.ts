import { Inject, Injectable } from '@nestjs/common';
import type { PartnerPayment } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import { IdempotentCalls } from '../idempotency/idempotent-calls.js';
import { type CurrentPayment, PartnerPaymentRepository, type PaymentOwner } from './partner-payment.repository.js';

export interface IdempotencyKey {
  readonly owner: PaymentOwner;
  /** UUID, made by the client. */
  readonly reference: string;
  /** Of the request without card data: the same reference with another one is refused. */
  readonly fingerprint: string;
  /** When the client is answered whatever is known. */
  readonly until: Date;
}

export interface MadePayment {
  readonly payment: PartnerPayment;
  /** Whether an earlier call with this reference made it. */
  readonly replayed: boolean;
}

/** The same reference of an organisation and mode is one payment (C7). */
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
   * Runs `make` unless the reference has a payment, then `finish` with it.
   *
   * @param make commits the payment under this key, or throws and has changed nothing
   */
  async once(
    { owner, reference, fingerprint, until }: IdempotencyKey,
    make: () => Promise<void>,
    finish: (payment: CurrentPayment) => Promise<CurrentPayment>,
  ): Promise<MadePayment> {
    const { made, replayed } = await this.calls.once({
      id: [owner.organisationId, owner.mode, reference.toLowerCase()].join(),
      find: () => this.payments.findByReference(owner, reference),
      ...{ fingerprint, until, make, finish },
    });
    return { ...made, replayed };
  }
}
