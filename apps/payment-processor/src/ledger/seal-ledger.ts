import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import { PeriodicJob } from '@svc/messaging';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { floorToClosing, newestClosableTime } from './day.js';
import { SealRepository } from './seal.repository.js';

const POLL_MS = 1_000;
/** Limit of transfers in one seal, so that its statement stays short. */
const SEAL_SIZE = 5_000;

/**
 * Seals committed transfers once a second, and closes each quarter of an hour five minutes after its end, after all
 * transfers that were created in it are sealed. The closings are stored in a table. At 00:05 UTC the root hash of the
 * day before is also written to the log.
 */
@Injectable()
export class SealLedger implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly job: PeriodicJob;
  /** The newest closing that this process has seen. */
  private closedUntil = new Date(0);
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

  /** Seals once, and closes what is due. Returns the number of sealed transfers. */
  async runStep(transfersMax = SEAL_SIZE): Promise<number> {
    if (this.isSealedByAnotherServer !== false) await this.checkServer();
    if (this.isSealedByAnotherServer === true) return 0;
    const seal = await this.seals.sealNext(transfersMax);
    if (seal) this.logIfClosed(seal.oldest);
    const sealedCount = seal?.transferCount ?? 0;
    if (sealedCount < transfersMax) await this.close();
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

  private async close(): Promise<void> {
    const due = newestClosableTime(this.clock.now());
    if (due <= this.closedUntil) return;
    this.closedUntil = (await this.seals.findLastClosing()) ?? new Date(0);
    const oldest = await this.seals.findOldestUnsealed();
    const until = oldest && oldest < due ? floorToClosing(oldest) : due;
    if (until <= this.closedUntil) return;
    const closedDays = await this.seals.closeUntil(until);
    this.closedUntil = until;
    for (const { day, sealNumber, root } of closedDays)
      this.log.info({ day, sealNumber, root }, 'the ledger of a day is closed');
  }

  /**
   * A process that was frozen for minutes can commit a transfer after its quarter of an hour was closed. A settlement
   * statement that was final then lacks this transfer.
   */
  private logIfClosed(oldest: Date): void {
    if (oldest < this.closedUntil)
      this.log.error({ createdUTCDate: oldest.toISOString() }, 'a transfer was committed after its time was closed');
  }
}
