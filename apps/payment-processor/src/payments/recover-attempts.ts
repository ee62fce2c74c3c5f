import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { Acquirer, type ChargeOutcome, type ReversalOutcome } from '../acquirers/acquirer.js';
import { NOT_FOUND_COUNTS_AFTER_MS, REVERSE_AFTER_MS } from './attempt.js';
import { type OpenAttempt, PaymentRepository } from './payment.repository.js';
import { Repeated } from './repeated.js';
import { SettleAttempt } from './settle-attempt.js';

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
  private readonly repeated: Repeated;

  constructor(
    @Inject(PaymentRepository) private readonly payments: PaymentRepository,
    @Inject(SettleAttempt) private readonly settleAttempt: SettleAttempt,
    @Inject(Acquirer) private readonly acquirer: Acquirer,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {
    this.repeated = new Repeated('recovery', POLL_MS, log, async () => (await this.runOnce()) === BATCH_MAX);
  }

  onApplicationBootstrap(): void {
    this.repeated.start();
  }

  onApplicationShutdown(): Promise<void> {
    return this.repeated.stop();
  }

  /** Looks after everything that is due now. Returns how many attempts that were. */
  async runOnce(): Promise<number> {
    const due = await this.payments.claimDue(this.clock.later(LEASE_MS), BATCH_MAX);
    await Promise.all(due.map((attempt) => this.recover(attempt)));
    return due.length;
  }

  /** Asks the acquirer about one attempt, and records what it says. */
  async recover(attempt: OpenAttempt): Promise<void> {
    const settled = await this.settleAttempt.execute(attempt, await this.findOut(attempt));
    if (!settled) return;
    const { paymentReference, state } = settled;
    this.log.info({ paymentReference, state, asked: attempt.asked }, 'attempt recovered');
  }

  private async findOut(attempt: OpenAttempt): Promise<ChargeOutcome | ReversalOutcome> {
    const age = this.clock.now().getTime() - attempt.startedAt.getTime();
    if (age >= REVERSE_AFTER_MS) return this.acquirer.reverse(attempt.attemptId);
    const answer = await this.acquirer.ask(attempt.attemptId);
    if (answer.kind !== 'notFound') return answer;
    // Nothing arrived. Once the call cannot be on its way any more, the key is barred, so that this stays true.
    return age >= NOT_FOUND_COUNTS_AFTER_MS ? this.acquirer.reverse(attempt.attemptId) : { kind: 'unknown' };
  }
}
