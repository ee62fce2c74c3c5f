import type { KeyObject } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { Mode, TokenKeyJwk } from '@svc/contracts';
import { Clock, DomainError, isUuid } from '@svc/kernel';
import { DataSource } from 'typeorm';
import { hashApiKey, isApiKeyShaped } from './api-key.js';
import { publicKeyOf } from './token-key.js';

/** The organisation a partner key speaks for. */
export interface PartnerKey {
  readonly keyId: string;
  /** UUID. */
  readonly organisationId: string;
  readonly mode: Mode;
}

/** A revoked key is refused after this at the latest (A6 allows 5 s; the rest is for the event to arrive). */
const KEPT_MS = 1_000;
const KEPT_MAX = 10_000;

/** Finds partner keys and the keys of tokens in this service's own copy of what identity published. */
@Injectable()
export class PartnerCredentials {
  private readonly partnerKeys = new Map<string, { found: PartnerKey; until: number }>();
  private readonly tokenKeys = new Map<string, { found: KeyObject; until: number }>();

  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** Throws `credentials.invalid` for a key that is unknown, revoked, or a merchant's. */
  async getPartnerKey(apiKey: unknown): Promise<PartnerKey> {
    if (!isApiKeyShaped(apiKey)) throw new DomainError('credentials.invalid');
    const hash = hashApiKey(apiKey);
    const found = await this.kept(this.partnerKeys, hash, async () => {
      const [row] = await this.dataSource.query<PartnerKey[]>(
        `SELECT key_id AS "keyId", organisation_id AS "organisationId", mode
           FROM known_partner_keys WHERE hash = $1 AND NOT revoked`,
        [hash],
      );
      return row;
    });
    if (!found) throw new DomainError('credentials.invalid');
    return found;
  }

  /** Undefined for a key that identity never published, or has withdrawn. */
  async findTokenKey(kid: unknown): Promise<KeyObject | undefined> {
    if (!isUuid(kid)) return undefined;
    return this.kept(this.tokenKeys, kid, async () => {
      const [row] = await this.dataSource.query<{ publicJwk: TokenKeyJwk }[]>(
        `SELECT public_jwk AS "publicJwk" FROM known_token_keys WHERE kid = $1 AND NOT withdrawn`,
        [kid],
      );
      return row && publicKeyOf(row.publicJwk);
    });
  }

  /** Keeps no refusal: what has just been made works at once. */
  private async kept<T>(
    cache: Map<string, { found: T; until: number }>,
    name: string,
    lookUp: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const now = this.clock.now().getTime();
    const known = cache.get(name);
    if (known && now < known.until) return known.found;
    const found = await lookUp();
    if (found === undefined) return undefined;
    if (cache.size >= KEPT_MAX) cache.clear();
    cache.set(name, { found, until: now + KEPT_MS });
    return found;
  }
}
