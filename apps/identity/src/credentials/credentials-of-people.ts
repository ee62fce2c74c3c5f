import { Inject, Injectable } from '@nestjs/common';
import type { CreateCredential, CredentialEntry, CredentialScope, RevokeCredential } from '@svc/contracts';
import { OVERLAP_HOURS } from '@svc/contracts';
import { Clock, DomainError, invalidField } from '@svc/kernel';
import { DataSource } from 'typeorm';
import type { ApiKey } from '../api-keys/api-key.js';
import { findKeys } from '../api-keys/api-key.repository.js';
import { CreateApiKey } from '../api-keys/create-api-key.js';
import { RevokeApiKey } from '../api-keys/revoke-api-key.js';
import { getMerchant } from '../merchants/merchant.repository.js';
import type { NewCredential } from '../new-credential.js';
import { readScope, readUuid } from '../people/person/input.js';
import { AuthenticateActor } from '../people/sessions/authenticate-actor.js';
import { getSite } from '../sites/site.repository.js';
import { CreateWebhookSecret } from '../webhook-secrets/create-webhook-secret.js';
import { RevokeWebhookSecret } from '../webhook-secrets/revoke-webhook-secret.js';
import type { WebhookSecret } from '../webhook-secrets/webhook-secret.js';
import { listWebhookSecrets } from '../webhook-secrets/webhook-secret.repository.js';

const HOUR_MS = 3_600_000;

/** Lists, creates and ends API keys and webhook secrets for people of a merchant, and checks their rights. */
@Injectable()
export class CredentialsOfPeople {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(AuthenticateActor) private readonly actors: AuthenticateActor,
    @Inject(CreateApiKey) private readonly createApiKey: CreateApiKey,
    @Inject(RevokeApiKey) private readonly revokeApiKey: RevokeApiKey,
    @Inject(CreateWebhookSecret) private readonly createWebhookSecret: CreateWebhookSecret,
    @Inject(RevokeWebhookSecret) private readonly revokeWebhookSecret: RevokeWebhookSecret,
  ) {}

  /** The keys of one owner and, of a site, its webhook secrets. Throws `resource.not-found`. */
  async list({ actor, mode, ...requested }: CredentialScope): Promise<CredentialEntry[]> {
    const scope = readScope(requested);
    await this.actors.authorise(actor, 'keys.read', scope);
    const { merchantId, siteId } = scope;
    const { manager } = this.dataSource;
    await (siteId === undefined ? getMerchant(manager, merchantId) : getSite(manager, merchantId, siteId));
    const keys = await findKeys(manager, scope);
    const secrets = siteId === undefined ? [] : await listWebhookSecrets(manager, merchantId, siteId);
    return [
      ...keys.map((key) => ({ key, entry: { kind: 'api-key' as const, credentialId: key.keyId, prefix: key.prefix } })),
      ...secrets.map((key) => ({ key, entry: { kind: 'webhook-secret' as const, credentialId: key.secretId } })),
    ]
      .filter(({ key }) => key.mode === mode)
      .map(({ key, entry }) => ({ ...entry, ...datesOf(key) }));
  }

  /** Returns the secret, which is shown once. Throws `resource.conflict` and `resource.not-found`. */
  async create({ actor, kind, mode, credentialId, replaces, ...requested }: CreateCredential): Promise<string> {
    const scope = readScope(requested);
    const credential: NewCredential = { credentialId: readUuid(credentialId), replaced: this.readReplaced(replaces) };
    const { author } = await this.actors.authorise(actor, 'keys.manage', scope, { isConfirmed: true });
    if (kind === 'api-key') return (await this.createApiKey.execute(author, scope, mode, credential)).apiKey;
    const { merchantId, siteId } = requireSite(scope);
    const created = await this.createWebhookSecret.execute(author, merchantId, siteId, mode, credential);
    return created.webhookSecret;
  }

  /** Does nothing if the credential has ended already. Throws `resource.not-found`. */
  async revoke({ actor, kind, mode, credentialId, ...requested }: RevokeCredential): Promise<void> {
    const [scope, id] = [readScope(requested), readUuid(credentialId)];
    const { author } = await this.actors.authorise(actor, 'keys.manage', scope, { isConfirmed: true });
    if (kind === 'api-key') return this.revokeApiKey.execute(author, scope, id, mode);
    const { merchantId, siteId } = requireSite(scope);
    return this.revokeWebhookSecret.execute(author, merchantId, siteId, id, mode);
  }

  private readReplaced(replaces: CreateCredential['replaces']): NewCredential['replaced'] {
    if (!replaces) return undefined;
    const { credentialId, overlapHours } = replaces;
    if (!OVERLAP_HOURS.some((hours) => hours === overlapHours))
      throw invalidField('overlapHours', `overlapHours must be one of ${OVERLAP_HOURS.join(', ')}`);
    return { credentialId: readUuid(credentialId), endsAt: this.clock.later(overlapHours * HOUR_MS) };
  }
}

/** Only a site has webhook secrets. */
function requireSite({ merchantId, siteId }: ReturnType<typeof readScope>): { merchantId: number; siteId: number } {
  if (siteId === undefined) throw new DomainError('resource.not-found');
  return { merchantId, siteId };
}

function datesOf({ createdAt, endsAt, revokedAt }: ApiKey | WebhookSecret) {
  return {
    createdUTCDate: createdAt.toISOString(),
    ...(endsAt ? { endsUTCDate: endsAt.toISOString() } : {}),
    ...(revokedAt ? { revokedUTCDate: revokedAt.toISOString() } : {}),
  };
}
