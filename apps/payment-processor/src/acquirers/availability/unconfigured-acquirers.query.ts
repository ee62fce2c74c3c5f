import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { DataSource } from 'typeorm';
import { Acquirers } from '../acquirers.js';

/**
 * Reports, once at the start, acquirers that have unfinished work and are no longer configured. No job runs for them, so
 * their charges and refunds stay unknown, and their stored webhooks are not applied, until their settings are back.
 */
@Injectable()
export class UnconfiguredAcquirersQuery implements OnApplicationBootstrap {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Acquirers) private readonly acquirers: Acquirers,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const acquirers = await this.find();
    if (acquirers.length > 0)
      this.log.error(
        { acquirers },
        'acquirers with unfinished payments, refunds, cards or webhooks are not configured',
      );
  }

  private async find(): Promise<string[]> {
    const rows = await this.dataSource.query<{ acquirer: string }[]>(
      `SELECT DISTINCT acquirer FROM (
         SELECT acquirer FROM attempts WHERE next_query_at IS NOT NULL
         UNION ALL SELECT acquirer FROM verifications WHERE open
         UNION ALL SELECT acquirer FROM cards WHERE next_vault_delete_at IS NOT NULL
         UNION ALL SELECT a.acquirer FROM refunds r JOIN attempts a ON a.attempt_id = r.attempt_id WHERE r.next_query_at IS NOT NULL
         UNION ALL SELECT a.acquirer FROM captures c JOIN attempts a ON a.attempt_id = c.attempt_id WHERE c.next_request_at IS NOT NULL
         UNION ALL SELECT a.acquirer FROM reversals r JOIN attempts a ON a.attempt_id = r.attempt_id WHERE r.next_request_at IS NOT NULL
         UNION ALL SELECT acquirer FROM acquirer_reports WHERE next_apply_at IS NOT NULL
       ) unfinished WHERE acquirer <> ALL ($1) ORDER BY acquirer`,
      [this.acquirers.names],
    );
    return rows.map(({ acquirer }) => acquirer);
  }
}
