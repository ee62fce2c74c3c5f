import { eventType } from './envelope.js';

/** Test mode or live mode. Their data are separate (A6). */
export type Mode = 'test' | 'live';

/** A site (shop, till or web shop) of a merchant, with the merchant's name. Published by identity. */
export interface SiteChanged {
  merchantId: number;
  merchantName: string;
  siteId: number;
  /** Identifier of the point-of-sale till or site, chosen at on-boarding. */
  siteReference: string;
  name: string;
  /** False: requests for the site need no API key, only the two documented headers (A8). */
  requireApiKey: boolean;
  /** Allowed hosts of URLs if the site requires no API key (A8); lower case, without port. */
  allowedHosts: string[];
  /** Mode of requests without a key. */
  keylessMode: Mode;
  /**
   * URL that receives a notification of every final payment and every refund of the site (M6). Absent if none is
   * configured.
   */
  webhookUrl?: string;
  /** Whether notifications are sent to `webhookUrl`. */
  webhookEnabled: boolean;
  /**
   * True if payers of the site always solve a challenge before they pay. False: only while stolen cards are tested at the
   * site.
   */
  challengePayers: boolean;
}
export const SiteChangedV1 = eventType<SiteChanged>('site.changed.v1');

/** A merchant's or site's API key, as a hash (A6). Published by identity. */
export interface ApiKeyChanged {
  keyId: string;
  kind: 'merchant' | 'site';
  mode: Mode;
  merchantId: number;
  /** Absent for a merchant key, which is valid for all its sites. */
  siteId?: number;
  /** Lower-case hex SHA-256 of the whole key. */
  hash: string;
  revoked: boolean;
}
export const ApiKeyChangedV1 = eventType<ApiKeyChanged>('api-key.changed.v1');

/**
 * A secret that signs webhooks: an API key (E3) or a site's webhook secret (E4). Published by identity, encrypted so
 * that only webhook-dispatcher can decrypt it.
 */
export interface SigningSecretChanged {
  secretId: string;
  purpose: 'api-key' | 'webhook-secret';
  mode: Mode;
  merchantId: number;
  /** Absent for a merchant key. */
  siteId?: number;
  /** Compact JWE (ECDH-ES, A256GCM) for webhook-dispatcher's sealing key. */
  sealed: string;
  /**
   * Whether this key currently creates the signature of E3 for its owner and mode. Each owner has only one such key in
   * each mode.
   */
  primary: boolean;
  revoked: boolean;
}
export const SigningSecretChangedV1 = eventType<SigningSecretChanged>('signing-secret.changed.v1');

/** Metadata of a site's webhook secret (E4), without the secret. Published by identity. */
export interface WebhookSecretChanged {
  secretId: string;
  mode: Mode;
  merchantId: number;
  siteId: number;
  revoked: boolean;
}
export const WebhookSecretChangedV1 = eventType<WebhookSecretChanged>('webhook-secret.changed.v1');

/** Public part of an encryption key, as a JWK on P-256. */
export interface PublicKeyJwk {
  kty: 'EC';
  crv: 'P-256';
  x: string;
  y: string;
  kid: string;
  use: 'enc';
  alg: 'ECDH-ES';
}

/** Published by webhook-dispatcher: identity encrypts signing secrets with it. */
export const SealingKeyPublishedV1 = eventType<{ publicJwk: PublicKeyJwk }>('sealing-key.published.v1');

/** Published by payment-processor: pages and SDKs encrypt card data with it (P8). */
export const CardKeyPublishedV1 = eventType<{ publicJwk: PublicKeyJwk }>('card-key.published.v1');

/**
 * Heartbeat that identity publishes every few seconds. Like a revocation, it is published directly to the broker. A
 * service that receives no heartbeat must assume that it also misses revocations.
 */
export const CredentialsHeartbeatV1 = eventType<Record<string, never>>('credentials.heartbeat.v1');
