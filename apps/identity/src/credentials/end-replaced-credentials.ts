import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import type { ChangeAuthor } from '@svc/auth';
import { Clock, newUuid } from '@svc/kernel';
import { PeriodicJob } from '@svc/messaging';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { DataSource } from 'typeorm';
import { RevokeApiKey } from '../api-keys/revoke-api-key.js';
import { RevokeWebhookSecret } from '../webhook-secrets/revoke-webhook-secret.js';
import { findEndingCredentials } from './ending-credentials.query.js';

const INTERVAL_MS = 10_000;
const BATCH_SIZE = 50;

/**
 * Revokes replaced keys and secrets when their overlap has ended. All replicas may run it at the same time, because a
 * second revocation does nothing.
 */
@Injectable()
export class EndReplacedCredentials implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly job: PeriodicJob;

  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(RevokeApiKey) private readonly revokeApiKey: RevokeApiKey,
    @Inject(RevokeWebhookSecret) private readonly revokeWebhookSecret: RevokeWebhookSecret,
    @Inject(SERVICE_LOG) log: ServiceLog,
  ) {
    this.job = new PeriodicJob('end of replaced credentials', INTERVAL_MS, log, () => this.runStep());
  }

  onApplicationBootstrap(): void {
    this.job.start();
  }

  onApplicationShutdown(): Promise<void> {
    return this.job.stop();
  }

  /** Revokes one batch. Returns whether there may be more. */
  async runStep(): Promise<boolean> {
    const ending = await findEndingCredentials(this.dataSource.manager, this.clock.now(), BATCH_SIZE);
    for (const { kind, credentialId, merchantId, siteId } of ending) {
      // No person ends it: the audit log has the person who replaced it.
      const author: ChangeAuthor = { actor: 'schedule', requestId: newUuid(this.clock) };
      if (kind === 'api-key')
        await this.revokeApiKey.execute(author, { merchantId, siteId: siteId ?? undefined }, credentialId);
      else await this.revokeWebhookSecret.execute(author, merchantId, siteId!, credentialId);
    }
    return ending.length >= BATCH_SIZE;
  }
}
