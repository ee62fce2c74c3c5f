import { Inject, Injectable } from '@nestjs/common';
import { Clock, KeptForASecond } from '@svc/kernel';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { compactDecrypt, decodeProtectedHeader } from 'jose';
import { DataSource } from 'typeorm';
import { SealingKey } from '../sealing-key/sealing-key.js';
import {
  findSigningSecrets,
  type SealedSecret,
  type SigningKeysOwner,
  type SigningPurpose,
} from './find-signing-secrets.query.js';

/** What one try is signed with, in clear. Never stored, never logged. */
export interface SigningKeys {
  /** Part of the hash inside the body (E3); null where there is no such hash. */
  readonly apiKey: string | null;
  /** Sign the headers (E4), each `whsec_…`: several during a rotation. */
  readonly webhookSecrets: readonly string[];
}

const WEBHOOK_SECRET = /^whsec_[A-Za-z0-9+/]{16,}={0,2}$/;
const OPENED_MAX = 1_000;
/** More secrets of one site at a time than any rotation has; each is a signature in a header. */
const WEBHOOK_SECRETS_MAX = 5;

/**
 * Opens the secrets a notification is signed with. What is usable is asked of the table at most once a second for a
 * site, so a revoked or rotated key counts a second later; the costly opening is kept for longer, by sealed text.
 */
@Injectable()
export class SigningSecrets {
  private readonly opened = new Map<string, string>();
  private readonly found: KeptForASecond<SigningKeys>;

  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(SealingKey) private readonly sealingKey: SealingKey,
    @Inject(Clock) clock: Clock,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {
    this.found = new KeptForASecond(clock, OPENED_MAX);
  }

  /** The keys of this owner now, or undefined when a kind that it needs has not arrived or cannot be opened. */
  findFor(owner: SigningKeysOwner): Promise<SigningKeys | undefined> {
    const name = `${owner.merchantId} ${owner.siteId} ${owner.mode} ${owner.apiVersion}`;
    return this.found.find(name, async () => {
      const { keys, missing } = await this.find(owner);
      return missing.length === 0 ? keys : undefined;
    });
  }

  /** Which kinds have not arrived, were revoked, or cannot be opened. */
  async findMissing(owner: SigningKeysOwner): Promise<readonly SigningPurpose[]> {
    return (await this.find(owner)).missing;
  }

  private async find({ merchantId, siteId, mode, apiVersion }: SigningKeysOwner): Promise<{
    keys: SigningKeys;
    missing: SigningPurpose[];
  }> {
    const rows = await findSigningSecrets(this.dataSource, { merchantId, siteId, mode, apiVersion });
    const apiKeys = apiVersion === null ? [] : rows.filter(({ purpose }) => purpose === 'api-key').slice(0, 1);
    const [apiKey = null] = await this.openAll(apiKeys);
    const webhookSecrets = await this.openAll(
      rows.filter(({ purpose }) => purpose === 'webhook-secret').slice(0, WEBHOOK_SECRETS_MAX),
    );
    const missing: SigningPurpose[] = [
      ...(apiVersion !== null && apiKey === null ? ['api-key' as const] : []),
      ...(webhookSecrets.length === 0 ? ['webhook-secret' as const] : []),
    ];
    return { keys: { apiKey, webhookSecrets }, missing };
  }

  private async openAll(rows: readonly SealedSecret[]): Promise<string[]> {
    const opened = await Promise.all(rows.map((row) => this.open(row)));
    return opened.filter((secret) => secret !== undefined);
  }

  private async open({ secretId, purpose, sealed }: SealedSecret): Promise<string | undefined> {
    const kept = this.opened.get(sealed);
    if (kept !== undefined) return kept;
    try {
      const privateKey = this.sealingKey.findPrivateKey(decodeProtectedHeader(sealed).kid);
      if (!privateKey) throw new Error('It is sealed to a key that is not ours.');
      const { plaintext } = await compactDecrypt(sealed, privateKey, {
        keyManagementAlgorithms: ['ECDH-ES'],
        contentEncryptionAlgorithms: ['A256GCM'],
      });
      const secret = new TextDecoder('utf-8', { fatal: true }).decode(plaintext);
      if (purpose === 'webhook-secret' && !WEBHOOK_SECRET.test(secret)) throw new Error('It is no webhook secret.');
      if (this.opened.size >= OPENED_MAX) this.opened.delete(this.opened.keys().next().value!);
      this.opened.set(sealed, secret);
      return secret;
    } catch (error) {
      this.log.error({ err: error, secretId }, 'signing secret cannot be decrypted');
      return undefined;
    }
  }
}
