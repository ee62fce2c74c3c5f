import type { EventEnvelope } from '@svc/contracts';
import { type Clock, observeMetrics } from '@svc/kernel';
import type { DataSource, EntityManager } from 'typeorm';
import type { MessagingLog } from '../log.js';

/** Interval of a publisher's heartbeats. */
export const HEARTBEAT_INTERVAL_MS = 5_000;
/**
 * After this time without a heartbeat, a service logs an error: several heartbeats were lost, or the publisher is down.
 */
export const HEARTBEAT_TIMEOUT_MS = 30_000;

/** Stores the newest heartbeat of a publisher. An older or repeated heartbeat changes nothing. */
export async function storeHeartbeats(
  db: EntityManager,
  publisher: string,
  events: readonly EventEnvelope[],
): Promise<void> {
  const newest = events.map(({ occurredAt }) => occurredAt).reduce((a, b) => (a > b ? a : b));
  await db.query(
    `INSERT INTO heartbeats (publisher, sent_at) VALUES ($1, $2)
     ON CONFLICT (publisher) DO UPDATE SET sent_at = excluded.sent_at WHERE heartbeats.sent_at < excluded.sent_at`,
    [publisher, newest],
  );
}

/**
 * Logs an error when a publisher has sent no heartbeat for too long: one error until heartbeats arrive again. Also
 * reports the metric `svc.heartbeat.age`: the seconds since the newest heartbeat. The monitor has no other effect: the
 * service continues with the data that it has stored.
 */
export class HeartbeatMonitor {
  private readonly startedAt: number;
  private isSilent = false;
  private timer: NodeJS.Timeout | undefined;
  private stopObserving = (): void => undefined;

  constructor(
    private readonly publisher: string,
    private readonly dataSource: DataSource,
    private readonly clock: Clock,
    private readonly log: MessagingLog,
  ) {
    this.startedAt = clock.now().getTime();
  }

  start(): void {
    const { applicationName: service = '' } = this.dataSource.options as { applicationName?: string };
    const labels = { service, publisher: this.publisher };
    this.stopObserving = observeMetrics(['svc.heartbeat.age'], async (observe) =>
      observe('svc.heartbeat.age', (await this.ageMs()) / 1000, labels),
    );
    // The error needs no log entry: the readiness check reports an unavailable database.
    this.timer = setInterval(() => void this.runStep().catch(() => undefined), HEARTBEAT_INTERVAL_MS).unref();
  }

  stop(): void {
    clearInterval(this.timer);
    this.stopObserving();
  }

  /** Checks the newest heartbeat now. */
  async runStep(): Promise<void> {
    const ageMs = await this.ageMs();
    const { publisher } = this;
    const isTimedOut = ageMs > HEARTBEAT_TIMEOUT_MS;
    const ageSeconds = Math.round(ageMs / 1000);
    // After a start the first heartbeat needs time to arrive, because this service may have been down for a long time.
    const hasWaited = this.clock.now().getTime() - this.startedAt > HEARTBEAT_TIMEOUT_MS;
    if (isTimedOut && hasWaited && !this.isSilent) {
      this.isSilent = true;
      this.log.error(
        { publisher, ageSeconds },
        'no heartbeat: revocations may not arrive, cached keys and tokens stay valid',
      );
    } else if (!isTimedOut && this.isSilent) {
      this.isSilent = false;
      this.log.info({ publisher }, 'heartbeats arrive again');
    }
  }

  /** Milliseconds since the newest heartbeat, or since the start of this service if there was no heartbeat. */
  private async ageMs(): Promise<number> {
    const [row] = await this.dataSource.query<{ sentAt: Date }[]>(
      `SELECT sent_at AS "sentAt" FROM heartbeats WHERE publisher = $1`,
      [this.publisher],
    );
    return Math.max(0, this.clock.now().getTime() - (row?.sentAt.getTime() ?? this.startedAt));
  }
}
