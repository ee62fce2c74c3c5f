import { Inject, Injectable } from '@nestjs/common';
import type { PublicKeyJwk } from '@svc/contracts';
import { Clock, DomainError } from '@svc/kernel';
import { ReadinessCheck } from '@svc/service';
import { DataSource } from 'typeorm';

/** Every page and every poll of one asks; a newer key may be shown this much later, since the older still opens. */
const KEPT_MS = 1_000;

/** The key that pages encrypt card data to. Without it no page can be shown, so the service is not ready. */
@Injectable()
export class CardKey extends ReadinessCheck {
  private kept: { readonly key: PublicKeyJwk; readonly until: number } | undefined;

  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
  ) {
    super();
  }

  async get(): Promise<PublicKeyJwk> {
    const now = this.clock.now().getTime();
    if (this.kept && now < this.kept.until) return this.kept.key;
    const key = await this.find();
    if (!key) throw new DomainError('service.not-ready', { retryAfterSeconds: 1 });
    this.kept = { key, until: now + KEPT_MS };
    return key;
  }

  override async missing(): Promise<string | undefined> {
    return (await this.find()) ? undefined : 'the key for card data has not arrived from payment-processor';
  }

  private async find(): Promise<PublicKeyJwk | undefined> {
    const [row] = await this.dataSource.query<{ jwk: PublicKeyJwk }[]>(
      `SELECT public_jwk AS jwk FROM card_keys WHERE name = 'card-key'`,
    );
    return row?.jwk;
  }
}
