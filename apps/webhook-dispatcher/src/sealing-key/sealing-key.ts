import type { KeyObject } from 'node:crypto';
import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { decryptPrivateKey, newSealedKeyPair } from '@svc/auth';
import { SealingKeyPublishedV1 } from '@svc/contracts';
import { Clock, newUuid } from '@svc/kernel';
import { EventLog } from '@svc/messaging';
import { inTransaction } from '@svc/persistence';
import { ConfigError } from '@svc/service';
import { DataSource } from 'typeorm';
import { WebhookDispatcherConfig } from '../config.js';
import { SealingKeyRepository } from './sealing-key.repository.js';

/**
 * The key pair of this service. The service identity encrypts signing secrets with the public key, and this service
 * decrypts them with the private key (A6). The key pair is created once, at the first start of this service. The event
 * that publishes the public key is in the same transaction, so every key is published exactly once.
 */
@Injectable()
export class SealingKey implements OnModuleInit {
  private privateKeys: ReadonlyMap<string, KeyObject> = new Map();

  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(SealingKeyRepository) private readonly keys: SealingKeyRepository,
    @Inject(EventLog) private readonly events: EventLog,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(WebhookDispatcherConfig) private readonly config: WebhookDispatcherConfig,
  ) {}

  async onModuleInit(): Promise<void> {
    await this.createIfNone();
    this.privateKeys = await this.decryptPrivateKeys();
  }

  /** Returns the private key with this id. Undefined when a secret was encrypted for another key. */
  findPrivateKey(kid: string | undefined): KeyObject | undefined {
    return kid === undefined ? undefined : this.privateKeys.get(kid);
  }

  private async createIfNone(): Promise<void> {
    const kid = newUuid(this.clock);
    const pair = await newSealedKeyPair(kid, this.config.SVC_SEALING_KEY);
    await inTransaction(this.dataSource, async (tx) => {
      const isInserted = await this.keys.insertIfNone(tx, { kid, ...pair, createdAt: this.clock.now() });
      if (!isInserted) return;
      await this.events.append(tx, {
        type: SealingKeyPublishedV1,
        aggregateId: kid,
        aggregateVersion: 1,
        payload: { publicJwk: pair.publicJwk },
      });
    });
  }

  private async decryptPrivateKeys(): Promise<Map<string, KeyObject>> {
    const keys = await this.keys.findAll();
    try {
      return new Map(
        keys.map(({ kid, sealedPrivateKey }) => [
          kid,
          decryptPrivateKey(kid, sealedPrivateKey, this.config.SVC_SEALING_KEY),
        ]),
      );
    } catch (error) {
      throw new ConfigError('SVC_SEALING_KEY does not open the sealing key of this database.', { cause: error });
    }
  }
}
