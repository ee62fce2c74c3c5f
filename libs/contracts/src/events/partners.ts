import type { Mode } from './credentials.js';
import { eventType } from './envelope.js';

/** A partner's API key for the main API, as a hash (A6). Published by identity. */
export interface PartnerKeyChanged {
  keyId: string;
  organisationId: string;
  mode: Mode;
  /** Lower-case hex SHA-256 of the whole key. */
  hash: string;
  revoked: boolean;
}
export const PartnerKeyChangedV1 = eventType<PartnerKeyChanged>('partner-key.changed.v1');

/**
 * A customer of an organisation. Payments contain the customer's names, but identity tokens contain only the id (A2,
 * A4). Published by identity when the customer is registered.
 */
export interface CustomerRegistered {
  /**
   * UUID.
   * @schema uuid
   */
  customerReference: string;
  /**
   * UUID.
   * @schema uuid
   */
  organisationId: string;
  mode: Mode;
  /** `""` when unknown (P3); at most 100 characters, as lastName. */
  firstName: string;
  lastName: string;
}
export const CustomerRegisteredV1 = eventType<CustomerRegistered>('customer.registered.v1');

/** Public key for identity tokens, as in the JWKS (A2). */
export interface TokenKeyJwk {
  kty: 'EC';
  crv: 'P-256';
  x: string;
  y: string;
  kid: string;
  use: 'sig';
  alg: 'ES256';
}

/**
 * A key that signs identity tokens, or will sign them soon (A2). identity publishes the event ten minutes before the
 * key signs its first token, and again when tokens of this key must no longer be accepted.
 */
export interface TokenKeyChanged {
  publicJwk: TokenKeyJwk;
  withdrawn: boolean;
}
export const TokenKeyChangedV1 = eventType<TokenKeyChanged>('token-key.changed.v1');
