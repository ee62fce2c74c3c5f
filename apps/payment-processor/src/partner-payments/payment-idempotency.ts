import { Inject, Injectable } from '@nestjs/common';
import type { PartnerPayment } from '@svc/contracts';
import { Clock, DomainError } from '@svc/kernel';
import { isUniqueViolation } from '@svc/persistence';
import { InFlightPayments } from './in-flight-payments.js';
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

/**
 * The same reference is one payment, however often and to however many replicas it is sent (C7). In one process the first
 * call runs and the others wait in memory; between processes the key in the tables decides.
 */
@Injectable()
export class PaymentIdempotency {
  private readonly inFlight = new InFlightPayments<CurrentPayment & { readonly replayed: boolean }>();

  constructor(
    @Inject(PartnerPaymentRepository) private readonly payments: PartnerPaymentRepository,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /**
   * Runs `make` unless the reference has a payment, then `finish` with it.
   *
   * @param make commits the payment under this key, or throws and has changed nothing
   */
  async once(
    key: IdempotencyKey,
    make: () => Promise<void>,
    finish: (payment: CurrentPayment) => Promise<CurrentPayment>,
  ): Promise<MadePayment> {
    const id = [key.owner.organisationId, key.owner.mode, key.reference.toLowerCase()].join();
    for (;;) {
      const running = this.inFlight.find(id);
      if (!running) return this.inFlight.start(id, () => this.makeOrFind(key, make, finish));
      // A refused call has made nothing: then this one, which may carry another card, is the first.
      const made = await running.catch(() => undefined);
      if (made) return { payment: sameRequest(made, key).payment, replayed: true };
      if (this.clock.now() >= key.until) throw new DomainError('payment.in-progress', { retryAfterSeconds: 2 });
    }
  }

  private async makeOrFind(
    key: IdempotencyKey,
    make: () => Promise<void>,
    finish: (payment: CurrentPayment) => Promise<CurrentPayment>,
  ): Promise<CurrentPayment & { replayed: boolean }> {
    const known = (await this.find(key)) ?? (await this.makeUnlessMade(key, make));
    const current = known ?? (await this.find(key));
    if (!current) throw new Error('A payment that was just made is not there.');
    return { ...(await finish(sameRequest(current, key))), replayed: known !== undefined };
  }

  /** Returns a payment only where another replica made it under this reference meanwhile. */
  private async makeUnlessMade(key: IdempotencyKey, make: () => Promise<void>): Promise<CurrentPayment | undefined> {
    try {
      await make();
      return undefined;
    } catch (error) {
      // The payment that refuses this one, or has its reference, may be this very payment.
      if (!(error instanceof DomainError) && !isUniqueViolation(error, 'partner_references_pkey')) throw error;
      const made = await this.find(key);
      if (!made) throw error;
      return made;
    }
  }

  private find({ owner, reference }: IdempotencyKey): Promise<CurrentPayment | undefined> {
    return this.payments.findByReference(owner, reference);
  }
}

function sameRequest(payment: CurrentPayment, { fingerprint }: IdempotencyKey): CurrentPayment {
  if (payment.fingerprint !== fingerprint) throw new DomainError('request.idempotency-conflict');
  return payment;
}
