import type { MessagingLog } from '../log.js';
import { PeriodicJob } from '../periodic-job.js';
import type { Transport } from '../transport/transport.js';
import type { Restores } from './restores.js';

const POLL_MS = 500;

type Replays = Pick<Transport, 'scheduleReplayOfAll' | 'requestReplay' | 'isReplayOfAllComplete'>;

/**
 * Requests all events of other services again after a restore of this service's database, and waits until they are
 * handled. The publishers have delivered the events since the restored time, and would not deliver them again.
 * Handlers ignore the events whose effects were restored: by the inbox, which was restored too, or because they are
 * idempotent.
 *
 * Start it after the relays of all services in this process: a publisher whose relay has not started accepts no request.
 */
export class ReplayAfterRestore {
  private readonly job: PeriodicJob;
  private isStarted = false;

  /** @param closesRestore false if a person decides when the service becomes ready */
  constructor(
    private readonly restores: Restores,
    private readonly replays: Replays,
    private readonly log: MessagingLog,
    private readonly closesRestore: boolean,
  ) {
    this.job = new PeriodicJob('replay after a restore', POLL_MS, log, () => this.runStep());
  }

  /** Does nothing unless a restore is open. */
  async start(): Promise<void> {
    if (this.isStarted || !(await this.restores.findOpen())) return;
    this.isStarted = true;
    this.job.start();
  }

  async stop(): Promise<void> {
    if (this.isStarted) await this.job.stop();
  }

  /** Never reports more work: the job polls, because only the end of the replays changes anything. */
  async runStep(): Promise<false> {
    const restore = await this.restores.findOpen();
    if (!restore) return false;
    if (!restore.replayedAt) {
      await this.restores.requestReplays(restore, (tx) => this.replays.scheduleReplayOfAll(tx));
      await this.replays.requestReplay();
      if (!(await this.replays.isReplayOfAllComplete())) return false;
      await this.restores.markReplayed(restore);
      this.log.info({ restoredTo: restore.restoredTo }, 'the events since the restored time have been handled again');
    }
    if (this.closesRestore && (await this.restores.close(restore)))
      this.log.info({ restoredTo: restore.restoredTo }, 'the service is open again after the restore');
    return false;
  }
}
