import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import { PeriodicJob } from '@svc/messaging';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { formatUTCDay, newestClosableDay, previousUTCDay } from './day.js';
import { SealRepository } from './seal.repository.js';

const POLL_MS = 1_000;
/** Limit of transfers in one seal, so that its statement stays short. */
const SEAL_SIZE = 5_000;

/**
 * Seals committed transfers once a second, and closes each day at 00:05 UTC of the next day, after all transfers of the
 * day are sealed. The root hash of a closed day is stored in a table and written to the log.
 */
@Injectable()
export class SealLedger implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly job: PeriodicJob;
  /** The newest closed day that this process has seen. */
  private closedUntil = '';
  /** See {@link SealRepository.isSealedByAnotherServer}. Undefined until the first check. */
  private isSealedByAnotherServer: boolean | undefined;

  constructor(
    @Inject(SealRepository) private readonly seals: SealRepository,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {
    this.job = new PeriodicJob('ledger sealer', POLL_MS, log, async () => (await this.runStep()) === SEAL_SIZE);
  }

  onApplicationBootstrap(): void {
    this.job.start();
  }

  onApplicationShutdown(): Promise<void> {
    return this.job.stop();
  }

  /** Seals once, and closes the days that are due. Returns the number of sealed transfers. */
  async runStep(transfersMax = SEAL_SIZE): Promise<number> {
    if (this.isSealedByAnotherServer !== false) await this.checkServer();
    if (this.isSealedByAnotherServer === true) return 0;
    const seal = await this.seals.sealNext(transfersMax);
    if (seal) this.logIfDayIsClosed(seal.oldest);
    const sealedCount = seal?.transferCount ?? 0;
    if (sealedCount < transfersMax) await this.closeDays();
    return sealedCount;
  }

  /** If no other server has sealed the ledger, this is not checked again, because a database is restored only before its services start. */
  private async checkServer(): Promise<void> {
    const previousResult = this.isSealedByAnotherServer;
    this.isSealedByAnotherServer = await this.seals.isSealedByAnotherServer();
    if (this.isSealedByAnotherServer && previousResult === undefined)
      this.log.error(
        {},
        'the newest seal has a transaction id that this server has not reached: nothing is sealed; see docs/operations.md',
      );
  }

  private async closeDays(): Promise<void> {
    const due = newestClosableDay(this.clock.now());
    if (due <= this.closedUntil) return;
    this.closedUntil = (await this.seals.lastClosedDay()) ?? '';
    const oldest = await this.seals.findOldestUnsealed();
    const until = oldest && formatUTCDay(oldest) <= due ? previousUTCDay(oldest) : due;
    if (until <= this.closedUntil) return;
    for (const { day, sealNumber, root } of await this.seals.closeDays(until)) {
      this.closedUntil = day;
      this.log.info({ day, sealNumber, root }, 'the ledger of a day is closed');
    }
  }

  /**
   * A process that was frozen for minutes can commit a transfer after the day of the transfer was closed. The
   * settlement statement of that day lacks this transfer.
   */
  private logIfDayIsClosed(oldest: Date): void {
    const day = formatUTCDay(oldest);
    if (day <= this.closedUntil) this.log.error({ day }, 'a transfer was committed after its day was closed');
  }
}
