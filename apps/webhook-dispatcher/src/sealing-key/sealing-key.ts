import type { KeyObject } from 'node:crypto';
import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { newSealedKeyPair, openPrivateKey } from '@svc/auth';
import { SealingKeyPublishedV1 } from '@svc/contracts';
import { Clock, newUuid } from '@svc/kernel';
import { EventLog } from '@svc/messaging';
import { inTransaction } from '@svc/persistence';
import { ConfigError } from '@svc/service';
import { DataSource } from 'typeorm';
import { WebhookDispatcherConfig } from '../config.js';

/**
 * The key pair that identity seals signing secrets to (A6). Made once, at the first start ever; the event that
 * publishes its public half is committed with it, so there is no key that nobody heard of and no second event.
 */
@Injectable()
export class SealingKey implements OnModuleInit {
  private opened: ReadonlyMap<string, KeyObject> = new Map();

  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(EventLog) private readonly events: EventLog,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(WebhookDispatcherConfig) private readonly config: WebhookDispatcherConfig,
  ) {}

  async onModuleInit(): Promise<void> {
    await this.ensureOne();
    this.opened = await this.openAll();
  }

  /** The private key with this id, or undefined when the secret was sealed to a key that is not ours. */
  findPrivateKey(kid: string | undefined): KeyObject | undefined {
    return kid === undefined ? undefined : this.opened.get(kid);
  }

  private async ensureOne(): Promise<void> {
    const kid = newUuid(this.clock);
    const pair = await newSealedKeyPair(kid, this.config.SVC_SEALING_KEY);
    await inTransaction(this.dataSource, async (tx) => {
      // Two replicas at their first start: the second waits here and then finds the key of the first.
      await tx.query(`LOCK TABLE sealing_keys IN SHARE ROW EXCLUSIVE MODE`);
      const inserted = await tx.query<unknown[]>(
        `INSERT INTO sealing_keys (kid, public_jwk, sealed_private_key, created_at)
         SELECT $1, $2, $3, $4 WHERE NOT EXISTS (SELECT 1 FROM sealing_keys) RETURNING kid`,
        [kid, JSON.stringify(pair.publicJwk), pair.sealedPrivateKey, this.clock.now()],
      );
      if (inserted.length === 0) return;
      await this.events.append(tx, {
        type: SealingKeyPublishedV1,
        aggregateId: kid,
        aggregateVersion: 1,
        payload: { publicJwk: pair.publicJwk },
      });
    });
  }

  private async openAll(): Promise<Map<string, KeyObject>> {
    const rows = await this.dataSource.query<{ kid: string; sealed_private_key: string }[]>(
      `SELECT kid, sealed_private_key FROM sealing_keys`,
    );
    try {
      return new Map(
        rows.map((row) => [row.kid, openPrivateKey(row.kid, row.sealed_private_key, this.config.SVC_SEALING_KEY)]),
      );
    } catch (error) {
      throw new ConfigError('SVC_SEALING_KEY does not open the sealing key of this database.', { cause: error });
    }
  }
}
