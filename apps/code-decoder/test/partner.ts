import { randomUUID } from 'node:crypto';
import { hashApiKey, newApiKey } from '@svc/auth';
import {
  type Mode,
  PartnerKeyChangedV1,
  SCOPES_OF,
  TOKEN_AUDIENCE,
  TOKEN_ISSUER,
  TOKEN_SECONDS,
  TokenKeyChangedV1,
} from '@svc/contracts';
import { anEvent, type TestService } from '@svc/testing';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

/**
 * Delivers the identity service's events of a new partner to the service, and returns the request headers of the
 * partner's server.
 */
export async function createPartner(service: TestService, mode: Mode = 'test'): Promise<Record<string, string>> {
  const [kid, organisationId, keyId] = [randomUUID(), randomUUID(), randomUUID()];
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const { x, y } = await exportJWK(publicKey);
  const apiKey = newApiKey('partner', mode);
  await service.deliver(
    anEvent(TokenKeyChangedV1, kid, 1, {
      publicJwk: { kty: 'EC', crv: 'P-256', x: x!, y: y!, kid, use: 'sig', alg: 'ES256' },
      withdrawn: false,
    }),
    anEvent(PartnerKeyChangedV1, keyId, 1, { keyId, organisationId, mode, hash: hashApiKey(apiKey), revoked: false }),
  );
  const iat = Math.floor(service.clock.now().getTime() / 1000);
  const token = await new SignJWT({
    iss: TOKEN_ISSUER,
    aud: TOKEN_AUDIENCE,
    sub: randomUUID(),
    org: organisationId,
    typ: 'service',
    mode,
    scope: SCOPES_OF.service.join(' '),
    iat,
    exp: iat + TOKEN_SECONDS,
    jti: randomUUID(),
  })
    .setProtectedHeader({ alg: 'ES256', kid, typ: 'JWT' })
    .sign(privateKey);
  return { 'x-api-key': apiKey, authorization: `Bearer ${token}` };
}

/** The path that decodes a code, built as the specification requires of clients. */
export function codePath(code: string, encoding: 'base64' | 'base64url' = 'base64'): string {
  return `/v1/codes/${Buffer.from(code).toString(encoding)}`;
}
