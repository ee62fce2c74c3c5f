import type { Mode } from '../events/credentials.js';
import { commandType } from '../events/envelope.js';
import type { PersonActor } from './people/people.js';

/*
 * The commands below go from the console to identity, which owns the API keys, the webhook secrets and the webhook
 * addresses of sites. They are refused as the commands of people with an actor, and with `resource.not-found` for a site
 * of another merchant.
 */

/** An API key (A6), or a secret that signs webhooks (E4). */
export type CredentialKind = 'api-key' | 'webhook-secret';

/** The owner of credentials in one mode: a site, or for API keys also a merchant with all its sites. */
export interface CredentialScope {
  actor: PersonActor;
  merchantId: number;
  /** Absent only for the API keys of a merchant. */
  siteId?: number;
  mode: Mode;
}

/** A credential without its secret. */
export interface CredentialEntry {
  kind: CredentialKind;
  /**
   * keyId or secretId.
   * @schema uuid
   */
  credentialId: string;
  /** Beginning of an API key, by which people recognise it. Absent for a webhook secret. */
  prefix?: string;
  createdUTCDate: string;
  /** When it ends by itself, after it was replaced. */
  endsUTCDate?: string;
  /** When it ended. Absent while it is valid. */
  revokedUTCDate?: string;
}

/**
 * The API keys of the merchant or of the site, and the webhook secrets of the site, in the mode. The newest are first, at
 * most 100 of each. Requires `keys.read`.
 */
export const ListCredentialsV1 = commandType<CredentialScope, { credentials: CredentialEntry[] }>(
  'list-credentials.v1',
);

/** Hours after which a replaced credential ends. Until then both are valid. */
export const OVERLAP_HOURS = [1, 24, 72, 168] as const;

export interface CreateCredential extends CredentialScope {
  kind: CredentialKind;
  /**
   * UUID of the new credential, chosen by the console. A repeat with the same id is refused with `resource.conflict`,
   * because the secret is shown only once.
   * @schema uuid
   */
  credentialId: string;
  /** The valid credential of the same kind, owner and mode that the new one replaces. */
  replaces?: {
    /** @schema uuid */
    credentialId: string;
    /** One of {@link OVERLAP_HOURS}. */
    overlapHours: number;
  };
}

/**
 * Creates a credential, and lets the one that it replaces end later. Requires `keys.manage` and a confirmation. Refused with
 * `resource.conflict` if 10 keys or 5 secrets are valid, and with `resource.not-found` if the replaced one is not valid.
 */
export const CreateCredentialV1 = commandType<
  CreateCredential,
  {
    /** Shown once: identity stores no readable copy. */
    secret: string;
  }
>('create-credential.v1');

export interface RevokeCredential extends CredentialScope {
  kind: CredentialKind;
  /** @schema uuid */
  credentialId: string;
}

/** Ends a credential now. A repeat has no effect. Requires `keys.manage` and a confirmation. */
export const RevokeCredentialV1 = commandType<RevokeCredential, { revoked: true }>('revoke-credential.v1');

/** The webhook of a site (M6), for payments in test and live mode. */
export interface SiteWebhookSettings {
  /** Null if no address is set. */
  webhookUrl: string | null;
  /** If true, `webhookUrl` is set. */
  webhookEnabled: boolean;
}

interface SiteWebhookRequest {
  actor: PersonActor;
  merchantId: number;
  siteId: number;
}

/** Reads the webhook of a site. Requires `webhooks.manage`. */
export const ReadSiteWebhookV1 = commandType<SiteWebhookRequest, SiteWebhookSettings>('read-site-webhook.v1');

/**
 * Changes the webhook of a site. Requires `webhooks.manage` and a confirmation. Refused with `request.invalid` for an address
 * that the platform does not call.
 */
export const ChangeSiteWebhookV1 = commandType<SiteWebhookRequest & SiteWebhookSettings, SiteWebhookSettings>(
  'change-site-webhook.v1',
);
