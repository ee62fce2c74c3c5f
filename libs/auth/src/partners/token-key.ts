import { createPublicKey, type KeyObject } from 'node:crypto';
import type { TokenKeyJwk } from '@svc/contracts';

/** The key that verifies signatures of the private half. Throws unless it is on P-256. */
export function publicKeyOf({ kty, crv, x, y }: TokenKeyJwk): KeyObject {
  if (kty !== 'EC' || crv !== 'P-256') throw new Error('A token key is on P-256.');
  return createPublicKey({ key: { kty, crv, x, y }, format: 'jwk' });
}
