import { Inject, Injectable } from '@nestjs/common';
import { ERROR_CATALOGUE, type ErrorCode, type PaymentError, type PaymentSnapshot } from '@svc/contracts';
import { Clock, createCounter, createHistogram, traceableReferences } from '@svc/kernel';
import { addPaymentToSpan } from '@svc/messaging';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';

/** Several codes have the same reference, so the message decides too. */
const keyOf = ({ errorReference, message }: PaymentError): string => `${errorReference} ${message}`;
const CODES = new Map(Object.entries(ERROR_CATALOGUE).map(([code, error]) => [keyOf(error), code as ErrorCode]));
const codeOf = (error: PaymentError | undefined): ErrorCode | 'none' => (error && CODES.get(keyOf(error))) ?? 'none';

/** The charge that has decided a payment. */
interface DecidingCharge {
  readonly acquirer: string;
  readonly startedAt: Date;
}

/** Counts the outcomes of payments, and writes one log line for each. Call it when the outcome is committed. */
@Injectable()
export class PaymentOutcomes {
  private readonly payments = createCounter('svc.payments');
  private readonly verifications = createCounter('svc.payments.verifications');
  private readonly duration = createHistogram('svc.payment.duration');

  constructor(
    @Inject(Clock) private readonly clock: Clock,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {}

  /** The outcome of a charge: final, or a verification that the bank requires. */
  reportCharge(payment: PaymentSnapshot, { acquirer, startedAt }: DecidingCharge): void {
    const { mode, state } = payment;
    if (state === 'processing') return;
    const seconds = Math.max(0, this.clock.now().getTime() - startedAt.getTime()) / 1_000;
    this.duration.record(seconds, { mode, acquirer, outcome: state });
    if (state === 'verificationRequired') this.verifications.add(1, { mode, acquirer });
    this.reportFinal(payment, acquirer);
  }

  /** A final outcome, also without a charge: of a payment by other means, or after a failed verification. */
  reportFinal(payment: PaymentSnapshot, acquirer = 'none'): void {
    const { mode, state: outcome, errors, processedAmount, merchantId, siteId } = payment;
    const source = payment.partner ? 'partner' : payment.source.kind;
    const error = codeOf(errors[0]);
    addPaymentToSpan(payment);
    if (outcome !== 'success' && outcome !== 'failed') return;
    this.payments.add(1, { mode, acquirer, source, outcome, error });
    const references = traceableReferences(payment);
    this.log.info(
      { ...references, mode, merchantId, siteId, acquirer, outcome, error, processedAmount },
      'payment ended',
    );
  }
}
