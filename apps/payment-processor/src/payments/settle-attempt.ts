import { Inject, Injectable } from '@nestjs/common';
import type { PaymentSnapshot } from '@svc/contracts';
import { Clock, createCounter } from '@svc/kernel';
import { inTransaction } from '@svc/persistence';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { DataSource } from 'typeorm';
import { Acquirers } from '../acquirers/acquirers.js';
import { VelocityEnds } from '../velocity/velocity-ends.js';
import {
  type AcquirerResponse,
  attemptEndFor,
  type AttemptState,
  conclude,
  type FinalResponse,
  isFinal,
  nextQueryAt,
  statesEndedBy,
} from './attempt.js';
import { AttemptRepository, type OpenAttempt } from './attempt.repository.js';
import { PaymentRepository } from './payment.repository.js';
import { PaymentOutcomes } from './payment-outcomes.js';

/**
 * Records the acquirer's response about an attempt: the response to a charge, a query or a reversal. Only {@link
 * conclude} decides the effect of the response. A response that contradicts the row is an incident: it creates a row, a
 * metric and a log entry. If the acquirer holds money for a payment that did not succeed, the request for a reversal
 * and the transfer of the late approval are committed with the incident, so that the reversal happens even if this
 * process crashes (H2).
 */
@Injectable()
export class SettleAttempt {
  private readonly incidents = createCounter('svc.payments.incidents');
  private readonly unknown = createCounter('svc.payments.unknown');

  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(PaymentRepository) private readonly payments: PaymentRepository,
    @Inject(AttemptRepository) private readonly attempts: AttemptRepository,
    @Inject(Acquirers) private readonly acquirers: Acquirers,
    @Inject(VelocityEnds) private readonly velocityEnds: VelocityEnds,
    @Inject(PaymentOutcomes) private readonly outcomes: PaymentOutcomes,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {}

  /** Returns the settled payment if this response has settled it. */
  async execute(attempt: OpenAttempt, response: AcquirerResponse): Promise<PaymentSnapshot | undefined> {
    const effect = await this.record(attempt, response);
    return typeof effect === 'string' ? undefined : effect;
  }

  /** As {@link execute}, and returns whether a response that has settled nothing is an incident. */
  async record(attempt: OpenAttempt, response: AcquirerResponse): Promise<PaymentSnapshot | 'incident' | 'none'> {
    if (!isFinal(response)) {
      const nextQuery = nextQueryAt(attempt.startedAt, attempt.queries, this.clock.now());
      await this.attempts.markUnknown(attempt.attemptId, nextQuery);
      this.unknown.add(1, { mode: attempt.account.mode, acquirer: attempt.acquirer });
      return 'none';
    }
    const settled = await this.settle(attempt, response);
    if (settled) return settled;
    return (await this.settleLocked(attempt, response)) ? 'incident' : 'none';
  }

  /** Undefined when the payment is already settled, as a report of the acquirer may find it, or is settled meanwhile. */
  private async settle(attempt: OpenAttempt, response: FinalResponse): Promise<PaymentSnapshot | undefined> {
    if (attempt.payment.state !== 'processing') return undefined;
    const needsCapture = response.kind === 'approved' && this.acquirers.get(attempt.acquirer).capturesSeparately;
    const end = attemptEndFor(response);
    const velocity = this.velocityEnds.buildForResponse(attempt, response);
    const states = statesEndedBy(response);
    const settled = await this.payments.settle(
      attempt,
      needsCapture ? { ...end, followUp: 'capture' } : end,
      states,
      velocity,
    );
    if (settled) this.outcomes.reportCharge(settled, attempt);
    if (settled && velocity) await this.velocityEnds.committed(attempt, velocity);
    return settled;
  }

  /**
   * Handles a response that could not end the attempt in its current state. The row is locked, so that no concurrent
   * change is missed. Returns whether the response is an incident.
   */
  private async settleLocked(attempt: OpenAttempt, response: AcquirerResponse): Promise<boolean> {
    const incidentState = await inTransaction(this.dataSource, async (tx) => {
      const { state, acquirerReference } = (await this.attempts.lock(tx, attempt.attemptId)) ?? {};
      const conclusion = state && conclude(state, response, acquirerReference ?? undefined);
      if (conclusion?.kind === 'reverse') await this.attempts.beginReversal(tx, attempt, this.clock.now());
      // The kind `end` is an incident here: the end could not be recorded, because the payment or the payable
      // contradicts the attempt.
      const isIncident = conclusion?.kind === 'incident' || conclusion?.kind === 'end';
      if (!state || !isIncident) return undefined;
      const needsReversal = conclusion.kind === 'incident' && conclusion.needsReversal;
      await this.attempts.recordIncident(tx, attempt, state, response);
      const { capturesSeparately } = this.acquirers.get(attempt.acquirer);
      if (needsReversal) await this.attempts.requestReversal(tx, attempt, { holdsMoney: !capturesSeparately });
      return state;
    });
    if (incidentState) this.reportIncident(attempt, incidentState, response);
    return incidentState !== undefined;
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
