import { Inject, Injectable } from '@nestjs/common';
import { Clock, TtlCache } from '@svc/kernel';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { compactDecrypt, decodeProtectedHeader } from 'jose';
import { DataSource } from 'typeorm';
import { SealingKey } from '../sealing-key/sealing-key.js';
import {
  type EncryptedSecret,
  findSigningSecrets,
  type SigningKeysOwner,
  type SigningPurpose,
} from './find-signing-secrets.query.js';

/** The keys that sign one attempt, decrypted. Never store or log them. */
export interface SigningKeys {
  /** The signature in the body is a hash that includes this key (E3). Null for a body without a signature. */
  readonly apiKey: string | null;
  /** Secrets `whsec_…` that sign the headers (E4). There are several secrets during a rotation. */
  readonly webhookSecrets: readonly string[];
}

const WEBHOOK_SECRET = /^whsec_[A-Za-z0-9+/]{16,}={0,2}$/;
const MAX_CACHED_SECRETS = 1_000;
/** More than any rotation needs. The number is limited because each secret adds a signature to a header. */
const MAX_WEBHOOK_SECRETS = 5;

/**
 * Decrypts the secrets that sign a notification. The table is read at most once a second for each site, so a rotation
 * or revocation of a key takes effect within a second. Decryption is expensive, so decrypted secrets are cached for
 * longer.
 */
@Injectable()
export class SigningSecrets {
  private readonly decryptedSecrets = new Map<string, string>();
  private readonly keys: TtlCache<SigningKeys>;

  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(SealingKey) private readonly sealingKey: SealingKey,
    @Inject(Clock) clock: Clock,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {
    this.keys = new TtlCache(clock, MAX_CACHED_SECRETS);
  }

  /** Returns the current keys of this owner, or undefined when a required key is missing or cannot be decrypted. */
  findKeys(owner: SigningKeysOwner): Promise<SigningKeys | undefined> {
    const cacheKey = `${owner.merchantId} ${owner.siteId} ${owner.mode} ${owner.apiVersion}`;
    return this.keys.find(cacheKey, async () => {
      const { keys, missing } = await this.readKeys(owner);
      return missing.length === 0 ? keys : undefined;
    });
  }

  /** Returns the kinds of keys that are missing, revoked, or cannot be decrypted. */
  async findMissingKeys(owner: SigningKeysOwner): Promise<readonly SigningPurpose[]> {
    return (await this.readKeys(owner)).missing;
  }

  private async readKeys({ merchantId, siteId, mode, apiVersion }: SigningKeysOwner): Promise<{
    keys: SigningKeys;
    missing: SigningPurpose[];
  }> {
    const rows = await findSigningSecrets(this.dataSource, { merchantId, siteId, mode, apiVersion });
    const apiKeys = apiVersion === null ? [] : rows.filter(({ purpose }) => purpose === 'api-key').slice(0, 1);
    const [apiKey = null] = await this.decryptAll(apiKeys);
    const webhookSecrets = await this.decryptAll(
      rows.filter(({ purpose }) => purpose === 'webhook-secret').slice(0, MAX_WEBHOOK_SECRETS),
    );
    const missing: SigningPurpose[] = [
      ...(apiVersion !== null && apiKey === null ? ['api-key' as const] : []),
      ...(webhookSecrets.length === 0 ? ['webhook-secret' as const] : []),
    ];
    return { keys: { apiKey, webhookSecrets }, missing };
  }

  private async decryptAll(rows: readonly EncryptedSecret[]): Promise<string[]> {
    const secrets = await Promise.all(rows.map((row) => this.decrypt(row)));
    return secrets.filter((secret) => secret !== undefined);
  }

  private async decrypt({ secretId, purpose, sealed }: EncryptedSecret): Promise<string | undefined> {
    const cached = this.decryptedSecrets.get(sealed);
    if (cached !== undefined) return cached;
    try {
      const privateKey = this.sealingKey.findPrivateKey(decodeProtectedHeader(sealed).kid);
      if (!privateKey) throw new Error('The secret is encrypted for another key.');
      const { plaintext } = await compactDecrypt(sealed, privateKey, {
        keyManagementAlgorithms: ['ECDH-ES'],
        contentEncryptionAlgorithms: ['A256GCM'],
      });
      const secret = new TextDecoder('utf-8', { fatal: true }).decode(plaintext);
      if (purpose === 'webhook-secret' && !WEBHOOK_SECRET.test(secret))
        throw new Error('The text is not a webhook secret.');
      if (this.decryptedSecrets.size >= MAX_CACHED_SECRETS)
        this.decryptedSecrets.delete(this.decryptedSecrets.keys().next().value!);
      this.decryptedSecrets.set(sealed, secret);
      return secret;
    } catch (error) {
      this.log.error({ err: error, secretId }, 'signing secret cannot be decrypted');
      return undefined;
    }
  }
}
