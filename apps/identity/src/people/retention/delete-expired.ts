import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import { PeriodicJob } from '@svc/messaging';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { DataSource } from 'typeorm';
import { FAILURE_RETENTION_MS } from '../sign-in/sign-in-limit.js';
import { deleteExpired, type ExpiringTable } from './expired-people-data.repository.js';

const INTERVAL_MS = 60_000;
const BATCH_SIZE = 500;

/** Each table with the time for which its rows are kept after they have expired. */
const RETENTION_MS: Readonly<Record<ExpiringTable, number>> = {
  invitations: 0,
  operator_invitations: 0,
  mails: 0,
  person_sessions: 0,
  sign_in_tokens: 0,
  passkey_challenges: 0,
  sign_in_failures: FAILURE_RETENTION_MS,
};

/** Deletes expired invitations, mails, sessions, tokens, challenges and failures. No query depends on it: each checks the time. */
@Injectable()
export class DeleteExpiredPeopleData implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly job: PeriodicJob;

  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(SERVICE_LOG) log: ServiceLog,
  ) {
    this.job = new PeriodicJob('removal of expired data of people', INTERVAL_MS, log, () => this.runStep());
  }

  onApplicationBootstrap(): void {
    this.job.start();
  }

  onApplicationShutdown(): Promise<void> {
    return this.job.stop();
  }

  /** Deletes one batch of each table. Returns whether there may be more. */
  async runStep(): Promise<boolean> {
    const counts: number[] = [];
    for (const [table, retentionMs] of Object.entries(RETENTION_MS) as [ExpiringTable, number][])
      counts.push(await deleteExpired(this.dataSource.manager, table, this.clock.later(-retentionMs), BATCH_SIZE));
    return counts.includes(BATCH_SIZE);
  }
}
