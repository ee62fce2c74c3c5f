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
 * A customer of an organisation, for the names in its payments: identity tokens have only the id (A2, A4). Published by identity
 * when the customer is registered.
 */
export interface CustomerRegistered {
  /** UUID. */
  customerReference: string;
  /** UUID. */
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
 * A key that signs, or will sign, identity tokens (A2). Published by identity ten minutes before its first token, and again when
 * its tokens must no longer be accepted.
 */
export interface TokenKeyChanged {
  publicJwk: TokenKeyJwk;
  withdrawn: boolean;
}
export const TokenKeyChangedV1 = eventType<TokenKeyChanged>('token-key.changed.v1');
