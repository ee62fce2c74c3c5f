import { createPublicKey, type KeyObject } from 'node:crypto';
import type { TokenKeyJwk } from '@svc/contracts';

/** Imports the public key that verifies the signatures of tokens. Throws unless it is a key on the curve P-256. */
export function importPublicKey({ kty, crv, x, y }: TokenKeyJwk): KeyObject {
  if (kty !== 'EC' || crv !== 'P-256') throw new Error('A token key is on P-256.');
  return createPublicKey({ key: { kty, crv, x, y }, format: 'jwk' });
}
