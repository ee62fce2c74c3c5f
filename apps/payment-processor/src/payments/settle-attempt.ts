import { Inject, Injectable } from '@nestjs/common';
import { metrics } from '@opentelemetry/api';
import type { PaymentSnapshot } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import { inTransaction } from '@svc/persistence';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { DataSource } from 'typeorm';
import {
  type AcquirerAnswer,
  type AttemptState,
  conclude,
  endOf,
  isFinal,
  nextQueryAt,
  statesEndedBy,
} from './attempt.js';
import { AttemptRepository, type OpenAttempt } from './attempt.repository.js';
import { PaymentRepository } from './payment.repository.js';

/**
 * Records the acquirer's answer about an attempt: to a charge, a query or a reversal. {@link conclude} alone decides its effect.
 * An answer that contradicts the row is an incident: a row, a metric and a log line. If the acquirer holds money for a payment
 * that did not succeed, the reversal and the ledger's row of the late approval are committed with the incident, so that the
 * reversal happens even if this process dies (H2).
 */
@Injectable()
export class SettleAttempt {
  private readonly incidents = metrics.getMeter('@svc/payment-processor').createCounter('svc.payments.incidents');

  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(PaymentRepository) private readonly payments: PaymentRepository,
    @Inject(AttemptRepository) private readonly attempts: AttemptRepository,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {}

  /** The settled payment, if this answer decided it. */
  async execute(attempt: OpenAttempt, answer: AcquirerAnswer): Promise<PaymentSnapshot | undefined> {
    if (!isFinal(answer)) {
      const nextQuery = nextQueryAt(attempt.startedAt, attempt.queries, this.clock.now());
      await this.attempts.markUnknown(attempt.attemptId, nextQuery);
      return undefined;
    }
    const settled = await this.payments.settle(attempt, endOf(answer), statesEndedBy(answer));
    if (settled) return settled;
    return this.settleLocked(attempt, answer);
  }

  /** The answer does not end an attempt in this state: its effect is decided under the row's lock, and never lost. */
  private async settleLocked(attempt: OpenAttempt, answer: AcquirerAnswer): Promise<undefined> {
    const state = await inTransaction(this.dataSource, async (tx) => {
      const found = await this.attempts.lock(tx, attempt.attemptId);
      const conclusion = found && conclude(found, answer);
      if (conclusion?.kind === 'reverse') await this.attempts.beginReversal(tx, attempt, this.clock.now());
      // An end that could not be recorded: payment or payable contradict the attempt.
      const isIncident = conclusion?.kind === 'incident' || conclusion?.kind === 'end';
      if (!found || !isIncident) return undefined;
      const needsReversal = conclusion.kind === 'incident' && conclusion.needsReversal;
      await this.attempts.recordIncident(tx, attempt, found, answer);
      if (needsReversal) await this.attempts.requestReversal(tx, attempt);
      return found;
    });
    if (state) this.report(attempt, state, answer);
    return undefined;
  }

  private report(attempt: OpenAttempt, state: AttemptState, answer: AcquirerAnswer): void {
    this.incidents.add(1, { state, answer: answer.kind });
    const { paymentReference } = attempt.payment;
    this.log.error(
      { paymentReference, attemptId: attempt.attemptId, state, answer: answer.kind },
      'the acquirer contradicts the attempt',
    );
  }
}
