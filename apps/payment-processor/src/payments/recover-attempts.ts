import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import { Signal } from '@svc/messaging';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { Acquirer, type ChargeOutcome, type ReversalOutcome } from '../acquirers/acquirer.js';
import { endOf, nextAskAt, NOT_FOUND_COUNTS_AFTER_MS, REVERSE_AFTER_MS } from './attempt.js';
import { type OpenAttempt, PaymentRepository } from './payment.repository.js';

const POLL_MS = 500;
const BATCH_MAX = 50;
/** An attempt that is being asked about is left to whoever took it for this long. */
const LEASE_MS = 30_000;

/**
 * Ends what has no outcome: attempts whose process died, whose answer was lost or whose acquirer was silent. Asks
 * the acquirer under the attempt's own key after 2 s, 10 s, 1 min and 5 min and reverses it at 15 min (P1). It never
 * guesses: an attempt ends only with an answer. Not for retrying declined payments: those are final.
 */
@Injectable()
export class RecoverAttempts implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly signal = new Signal();
  private stopping = false;
  private running: Promise<void> | undefined;

  constructor(
    @Inject(PaymentRepository) private readonly payments: PaymentRepository,
    @Inject(Acquirer) private readonly acquirer: Acquirer,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {}

  onApplicationBootstrap(): void {
    this.running = this.run();
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopping = true;
    this.signal.nudge();
    await this.running;
  }

  /** Looks after everything that is due now. Returns how many attempts that were. */
  async runOnce(): Promise<number> {
    const due = await this.payments.claimDue(this.clock.later(LEASE_MS), BATCH_MAX);
    await Promise.all(due.map((attempt) => this.recover(attempt)));
    return due.length;
  }

  private async recover(attempt: OpenAttempt): Promise<void> {
    const outcome = await this.findOut(attempt);
    const end = endOf(outcome);
    if (end) {
      const settled = await this.payments.settle(attempt, end);
      if (settled)
        this.log.info(
          { paymentReference: settled.paymentReference, state: settled.state, asked: attempt.asked },
          'attempt recovered',
        );
      return;
    }
    await this.payments.markUnknown(attempt.attemptId, nextAskAt(attempt.startedAt, attempt.asked, this.clock.now()));
  }

  private async findOut(attempt: OpenAttempt): Promise<ChargeOutcome | ReversalOutcome> {
    const age = this.clock.now().getTime() - attempt.startedAt.getTime();
    if (age >= REVERSE_AFTER_MS) return this.acquirer.reverse(attempt.attemptId);
    const answer = await this.acquirer.ask(attempt.attemptId);
    if (answer.kind !== 'notFound') return answer;
    // Nothing arrived. Once the call cannot be on its way any more, the key is barred, so that this stays true.
    return age >= NOT_FOUND_COUNTS_AFTER_MS ? this.acquirer.reverse(attempt.attemptId) : { kind: 'unknown' };
  }

  private async run(): Promise<void> {
    while (!this.stopping) {
      try {
        while (!this.stopping && (await this.runOnce()) === BATCH_MAX);
      } catch (error) {
        this.log.warn({ err: error }, 'recovery failed, will be repeated');
      }
      if (!this.stopping) await this.signal.wait(POLL_MS);
    }
  }
}
