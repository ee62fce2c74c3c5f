import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import { PeriodicJob } from '@svc/messaging';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { dayBefore, dayOf, newestClosableDay } from './day.js';
import { SealRepository } from './seal.repository.js';

const POLL_MS = 1_000;
/** Bounds how long one statement takes. */
const TRANSFERS_MAX = 5_000;

/**
 * Seals committed transfers once a second, and closes each day at 00:05 UTC of the next one, once all that was created on it is
 * sealed. The root of a closed day is in a table and in the log.
 */
@Injectable()
export class SealLedger implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly job: PeriodicJob;
  /** The newest closed day that this process knows of. */
  private closedUntil = '';
  /** Undefined until it was looked at. */
  private isForeign: boolean | undefined;

  constructor(
    @Inject(SealRepository) private readonly seals: SealRepository,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {
    this.job = new PeriodicJob('ledger sealer', POLL_MS, log, async () => (await this.runOnce()) === TRANSFERS_MAX);
  }

  onApplicationBootstrap(): void {
    this.job.start();
  }

  onApplicationShutdown(): Promise<void> {
    return this.job.stop();
  }

  /** Seals once, and closes the days that are due. Returns how many transfers were sealed. */
  async runOnce(transfersMax = TRANSFERS_MAX): Promise<number> {
    if (this.isForeign !== false) await this.lookAtServer();
    if (this.isForeign === true) return 0;
    const seal = await this.seals.sealNext(transfersMax);
    if (seal) this.reportLate(seal.oldest);
    const sealed = seal?.transferCount ?? 0;
    if (sealed < transfersMax) await this.closeDays();
    return sealed;
  }

  /** Once, where all is well: a database is restored before its services start. */
  private async lookAtServer(): Promise<void> {
    const before = this.isForeign;
    this.isForeign = await this.seals.isSealedElsewhere();
    if (this.isForeign && before === undefined)
      this.log.error(
        {},
        'the ledger was sealed by a server whose transaction ids are higher: nothing is sealed here; docs/operations.md says what to do',
      );
  }

  private async closeDays(): Promise<void> {
    const due = newestClosableDay(this.clock.now());
    if (due <= this.closedUntil) return;
    this.closedUntil = (await this.seals.lastClosedDay()) ?? '';
    const oldest = await this.seals.oldestUnsealed();
    const until = oldest && dayOf(oldest) <= due ? dayBefore(oldest) : due;
    if (until <= this.closedUntil) return;
    for (const { day, sealNumber, root } of await this.seals.closeDays(until)) {
      this.closedUntil = day;
      this.log.info({ day, sealNumber, root }, 'the ledger of a day is closed');
    }
  }

  /** A transfer whose process stood still for minutes between its time and its commit: the day's statement lacks it. */
  private reportLate(oldest: Date): void {
    const day = dayOf(oldest);
    if (day <= this.closedUntil) this.log.error({ day }, 'a transfer was committed after its day was closed');
  }
}
