import { Inject, Injectable } from '@nestjs/common';
import { metrics } from '@opentelemetry/api';
import type { PaymentSnapshot } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import { inTransaction } from '@svc/persistence';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { DataSource } from 'typeorm';
import {
  type AcquirerResponse,
  attemptEndFor,
  type AttemptState,
  conclude,
  isFinal,
  nextQueryAt,
  statesEndedBy,
} from './attempt.js';
import { AttemptRepository, type OpenAttempt } from './attempt.repository.js';
import { PaymentRepository } from './payment.repository.js';

/**
 * Records the acquirer's response about an attempt: the response to a charge, a query or a reversal. Only {@link
 * conclude} decides the effect of the response. A response that contradicts the row is an incident: it creates a row, a
 * metric and a log entry. If the acquirer holds money for a payment that did not succeed, the request for a reversal
 * and the transfer of the late approval are committed with the incident, so that the reversal happens even if this
 * process crashes (H2).
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

  /** Returns the settled payment if this response has settled it. */
  async execute(attempt: OpenAttempt, response: AcquirerResponse): Promise<PaymentSnapshot | undefined> {
    if (!isFinal(response)) {
      const nextQuery = nextQueryAt(attempt.startedAt, attempt.queries, this.clock.now());
      await this.attempts.markUnknown(attempt.attemptId, nextQuery);
      return undefined;
    }
    const settled = await this.payments.settle(attempt, attemptEndFor(response), statesEndedBy(response));
    if (settled) return settled;
    return this.settleLocked(attempt, response);
  }

  /**
   * Handles a response that could not end the attempt in its current state. The row is locked, so that no concurrent
   * change is missed.
   */
  private async settleLocked(attempt: OpenAttempt, response: AcquirerResponse): Promise<undefined> {
    const incidentState = await inTransaction(this.dataSource, async (tx) => {
      const state = await this.attempts.lock(tx, attempt.attemptId);
      const conclusion = state && conclude(state, response);
      if (conclusion?.kind === 'reverse') await this.attempts.beginReversal(tx, attempt, this.clock.now());
      // The kind `end` is an incident here: the end could not be recorded, because the payment or the payable
      // contradicts the attempt.
      const isIncident = conclusion?.kind === 'incident' || conclusion?.kind === 'end';
      if (!state || !isIncident) return undefined;
      const needsReversal = conclusion.kind === 'incident' && conclusion.needsReversal;
      await this.attempts.recordIncident(tx, attempt, state, response);
      if (needsReversal) await this.attempts.requestReversal(tx, attempt);
      return state;
    });
    if (incidentState) this.reportIncident(attempt, incidentState, response);
    return undefined;
  }

  private reportIncident(attempt: OpenAttempt, state: AttemptState, response: AcquirerResponse): void {
    this.incidents.add(1, { state, response: response.kind });
    const { paymentReference } = attempt.payment;
    this.log.error(
      { paymentReference, attemptId: attempt.attemptId, state, response: response.kind },
      'the acquirer contradicts the attempt',
    );
  }
}
