import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock, createCounter, createHistogram } from '@svc/kernel';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import type { CaptureRequestResult } from '../acquirers/acquirer.js';
import type { CaptureReport } from '../acquirers/acquirer-report.js';
import { Acquirers } from '../acquirers/acquirers.js';
import { AcquirerJobs } from '../acquirers/availability/acquirer-jobs.js';
import { PaymentProcessorConfig } from '../config.js';
import { AttemptRepository } from '../payments/attempt.repository.js';
import {
  CAPTURE_OVERDUE_MS,
  type CaptureConclusion,
  type CaptureFailure,
  concludeReport,
  isOverdue,
  nextRequestAt,
  RELEASE_LIMIT_MS,
} from './capture.js';
import { type Capture, CaptureRepository, type DueRelease } from './capture.repository.js';

const POLL_MS = 500;
const BATCH_SIZE = 50;
const LEASE_MS = 30_000;

/**
 * Takes the money of approved charges, at acquirers that capture separately. The request has an idempotency key, so that
 * a retry from any process results in one capture. The acquirer reports the outcome later. A request that the acquirer
 * still rejects a day after the charge is a failed capture: the payment is booked back, and its reservation is released.
 */
@Injectable()
export class RequestCaptures implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly failures = createCounter('svc.captures.failed');
  private readonly duration = createHistogram('svc.capture.duration');
  private readonly incidents = createCounter('svc.captures.incidents');
  private readonly jobs: AcquirerJobs;

  constructor(
    @Inject(CaptureRepository) private readonly captures: CaptureRepository,
    @Inject(AttemptRepository) private readonly attempts: AttemptRepository,
    @Inject(Acquirers) private readonly acquirers: Acquirers,
    @Inject(PaymentProcessorConfig) private readonly config: PaymentProcessorConfig,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {
    this.jobs = new AcquirerJobs(
      'captures',
      POLL_MS,
      log,
      { names: acquirers.separatelyCapturing },
      async (acquirer) => (await this.runStep(acquirer)) === BATCH_SIZE,
    );
  }

  onApplicationBootstrap(): void {
    this.jobs.start();
  }

  onApplicationShutdown(): Promise<void> {
    return this.jobs.stop();
  }

  /** Requests all due captures and releases of this acquirer, at most one batch of each. Returns the size of the larger one. */
  async runStep(acquirer: string): Promise<number> {
    const due = await this.captures.leaseDue(acquirer, this.clock.later(LEASE_MS), BATCH_SIZE);
    await Promise.all(due.map((capture) => this.continue(capture)));
    const releases = await this.captures.leaseReleases(acquirer, this.clock.later(LEASE_MS), BATCH_SIZE);
    await Promise.all(releases.map((release) => this.release(release)));
    return Math.max(due.length, releases.length);
  }

  private async continue(capture: Capture): Promise<void> {
    const { attemptId, state, requests, keyNumber } = capture;
    const now = this.clock.now();
    if (state === 'requested') {
      // A repeat under its key would only return the first response. The acquirer sends its report again on request.
      await this.captures.postpone(attemptId, nextRequestAt('received', requests, now));
      return this.reportIncident(capture, 'captureUnconfirmed');
    }
    const result = await this.request(capture);
    const nextRequest = nextRequestAt(result.kind, requests, this.clock.now());
    switch (result.kind) {
      case 'received':
        return this.captures.markRequested(attemptId, result.acquirerReference, nextRequest);
      case 'rejected':
        await this.reportIncident(capture, 'captureRejected');
        if (isOverdue(capture, now)) return void (await this.fail(capture, 'rejected'));
        return this.captures.postpone(attemptId, nextRequest, keyNumber);
      case 'unknown':
        if (isOverdue(capture, now)) await this.reportIncident(capture, 'captureUnconfirmed');
        return this.captures.postpone(attemptId, nextRequest, result.isAnswered ? keyNumber : undefined);
    }
  }

  private request({ attemptId, acquirer, account, payment, ...capture }: Capture): Promise<CaptureRequestResult> {
    const { chargeReference, keyNumber, amount } = capture;
    const { paymentReference, currencyISOCode } = payment;
    const references = { chargeKey: attemptId, keyNumber, chargeReference, paymentReference };
    const signal = AbortSignal.timeout(this.config.SVC_ACQUIRER_TIMEOUT_MS);
    return this.acquirers.get(acquirer).capture({ account, ...references, amount, currencyISOCode }, signal);
  }

  /** The acquirer reports the release. Without its report the reservation expires at the issuer. */
  private async release({ attemptId, acquirer, account, paymentReference, failedAt }: DueRelease): Promise<void> {
    const ageMs = this.clock.now().getTime() - failedAt.getTime();
    if (ageMs >= RELEASE_LIMIT_MS) return void (await this.captures.endRelease(attemptId, { isReleased: false }));
    const { kind } = await this.acquirers.get(acquirer).reverse({ account, chargeKey: attemptId, paymentReference });
    if (kind !== 'unconfirmed') return void (await this.captures.endRelease(attemptId, { isReleased: true }));
    if (ageMs < CAPTURE_OVERDUE_MS) return;
    await this.attempts.recordIncident(undefined, { attemptId }, 'approved', { kind: 'unconfirmed' });
    this.incidents.add(1, { response: 'unconfirmed' });
    this.log.error({ paymentReference, attemptId }, 'the acquirer has not confirmed the release of a failed capture');
  }

  private async reportIncident(
    { attemptId, payment }: Capture,
    kind: 'captureRejected' | 'captureUnconfirmed',
  ): Promise<void> {
    await this.attempts.recordIncident(undefined, { attemptId }, 'approved', { kind });
    this.incidents.add(1, { response: kind });
    const { paymentReference } = payment;
    this.log.error({ paymentReference, attemptId, response: kind }, 'a charge is approved and not captured');
  }

  /** Applies the acquirer's report. Returns `none` when it changes nothing. */
  async applyReport(
    capture: Capture,
    report: Pick<CaptureReport, 'outcome' | 'acquirerReference' | 'isRecapture'>,
  ): Promise<CaptureConclusion> {
    const conclusion = concludeReport(capture, report, this.clock.now());
    return (await this.conclude(capture, report.acquirerReference, conclusion)) ? conclusion : 'none';
  }

  private async conclude(capture: Capture, acquirerReference: string, conclusion: CaptureConclusion): Promise<boolean> {
    switch (conclusion) {
      case 'captured':
        return this.confirm(capture, acquirerReference);
      case 'rejected':
      case 'cardScheme':
        return this.fail(capture, conclusion, acquirerReference);
      case 'requestAgain':
        await this.reportIncident(capture, 'captureRejected');
        return this.captures.requestAgain(capture, nextRequestAt('rejected', capture.requests, this.clock.now()));
      case 'incident':
      case 'none':
        return true;
    }
  }

  private async confirm({ attemptId, acquirer, createdAt }: Capture, acquirerReference: string): Promise<boolean> {
    if (!(await this.captures.markCaptured(attemptId, acquirerReference))) return false;
    this.duration.record(Math.max(0, this.clock.now().getTime() - createdAt.getTime()) / 1_000, { acquirer });
    return true;
  }

  private async fail(capture: Capture, failure: CaptureFailure, reportedReference?: string): Promise<boolean> {
    if (!(await this.captures.fail(capture, failure, reportedReference))) return false;
    this.failures.add(1, { acquirer: capture.acquirer, failure });
    const { attemptId, payment } = capture;
    const { paymentReference } = payment;
    this.log.error({ paymentReference, attemptId, failure }, 'a capture failed, the payment is booked back');
    return true;
  }
}
