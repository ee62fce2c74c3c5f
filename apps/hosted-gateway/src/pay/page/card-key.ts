import { Inject, Injectable } from '@nestjs/common';
import type { PublicKeyJwk } from '@svc/contracts';
import { Clock, DomainError, TtlCache } from '@svc/kernel';
import { ReadinessCheck } from '@svc/service';
import { DataSource } from 'typeorm';
import { findCardKey } from '../find-card-key.query.js';

/**
 * The public key with which pages encrypt card data. Without it no page can be shown, so the service is not ready. The
 * key is cached, because every page and every poll reads it. A page may use a newer key a second late, because
 * payment-processor still accepts the older key.
 */
@Injectable()
export class CardKey extends ReadinessCheck {
  private readonly cache: TtlCache<PublicKeyJwk>;

  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) clock: Clock,
  ) {
    super();
    this.cache = new TtlCache(clock, 1);
  }

  async get(): Promise<PublicKeyJwk> {
    const key = await this.cache.find('card-key', () => findCardKey(this.dataSource));
    if (!key) throw new DomainError('service.not-ready', { retryAfterSeconds: 1 });
    return key;
  }

  override async missing(): Promise<string | undefined> {
    return (await findCardKey(this.dataSource))
      ? undefined
      : 'the key for card data has not arrived from payment-processor';
  }
}
