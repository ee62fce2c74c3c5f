import type { KeyObject } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { Mode, TokenKeyJwk } from '@svc/contracts';
import { Clock, isUuid, TtlCache } from '@svc/kernel';
import { DataSource } from 'typeorm';
import { createKeyError, hasApiKeyFormat, hashApiKey } from '../api-keys/api-key.js';
import { importPublicKey } from './token-key.js';

/** A partner's API key, and the organisation that owns it. */
export interface PartnerKey {
  readonly keyId: string;
  /** UUID. */
  readonly organisationId: string;
  readonly mode: Mode;
}

/** Finds partner keys, and the public keys that verify tokens. The service identity has published both. */
@Injectable()
export class PartnerCredentials {
  private readonly partnerKeys: TtlCache<PartnerKey>;
  private readonly tokenKeys: TtlCache<KeyObject>;

  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) clock: Clock,
  ) {
    this.partnerKeys = new TtlCache(clock);
    this.tokenKeys = new TtlCache(clock);
  }

  /** Throws the error of {@link createKeyError} for a key that is unknown, revoked, or not a partner's. */
  async getPartnerKey(apiKey: unknown): Promise<PartnerKey> {
    if (!hasApiKeyFormat(apiKey)) throw createKeyError(apiKey, ['partner']);
    const hash = hashApiKey(apiKey);
    const found = await this.partnerKeys.find(hash, async () => {
      const [row] = await this.dataSource.query<PartnerKey[]>(
        `SELECT key_id AS "keyId", organisation_id AS "organisationId", mode
           FROM known_partner_keys WHERE hash = $1 AND NOT revoked`,
        [hash],
      );
      return row;
    });
    if (!found) throw createKeyError(apiKey, ['partner']);
    return found;
  }

  /** The public key with this id. Undefined if identity never published it or has withdrawn it. */
  async findTokenKey(kid: unknown): Promise<KeyObject | undefined> {
    if (!isUuid(kid)) return undefined;
    return this.tokenKeys.find(kid, async () => {
      const [row] = await this.dataSource.query<{ publicJwk: TokenKeyJwk }[]>(
        `SELECT public_jwk AS "publicJwk" FROM known_token_keys WHERE kid = $1 AND NOT withdrawn`,
        [kid],
      );
      return row && importPublicKey(row.publicJwk);
    });
  }
}
