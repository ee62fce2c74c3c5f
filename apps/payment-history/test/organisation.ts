import { randomUUID } from 'node:crypto';
import { hashApiKey, newApiKey } from '@svc/auth';
import {
  type EventEnvelope,
  type Mode,
  PartnerKeyChangedV1,
  SCOPES_OF,
  TOKEN_AUDIENCE,
  TOKEN_ISSUER,
  TOKEN_SECONDS,
  TokenKeyChangedV1,
  type TokenType,
} from '@svc/contracts';
import type { Clock } from '@svc/kernel';
import { anEvent } from '@svc/testing';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

/** An organisation (a partner) with two customers, and its credentials. */
export interface Organisation {
  readonly organisationId: string;
  readonly mode: Mode;
  readonly apiKey: string;
  /** The customerReferences of the two customers. */
  readonly customers: readonly [string, string];
  createToken(type: TokenType, claims?: Record<string, unknown>): Promise<string>;
  /** Request headers with the API key and a service token. */
  readonly serviceHeaders: Record<string, string>;
  /** Request headers with the API key and the token of each customer. */
  readonly customerHeaders: readonly [Record<string, string>, Record<string, string>];
}

/**
 * Creates an organisation, by default in mode test.
 *
 * @param service receives the events of the organisation. Its clock sets the times of the tokens.
 */
export async function createOrganisation(
  service: { readonly clock: Clock; deliver(...events: EventEnvelope[]): Promise<void> },
  overrides: Partial<Pick<Organisation, 'organisationId' | 'mode' | 'customers'>> = {},
): Promise<Organisation> {
  const { mode = 'test', organisationId = randomUUID(), customers = [randomUUID(), randomUUID()] } = overrides;
  const [kid, keyId] = [randomUUID(), randomUUID()];
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
  const createToken = (type: TokenType, claims: Record<string, unknown> = {}): Promise<string> => {
    const iat = Math.floor(service.clock.now().getTime() / 1000);
    return new SignJWT({
      iss: TOKEN_ISSUER,
      aud: TOKEN_AUDIENCE,
      sub: randomUUID(),
      org: organisationId,
      typ: type,
      mode,
      scope: SCOPES_OF[type].join(' '),
      iat,
      exp: iat + TOKEN_SECONDS,
      jti: randomUUID(),
      ...claims,
    })
      .setProtectedHeader({ alg: 'ES256', kid, typ: 'JWT' })
      .sign(privateKey);
  };
  const createHeaders = async (type: TokenType, sub: string) => ({
    'x-api-key': apiKey,
    authorization: `Bearer ${await createToken(type, { sub })}`,
  });
  return {
    organisationId,
    mode,
    apiKey,
    customers,
    createToken,
    serviceHeaders: await createHeaders('service', randomUUID()),
    customerHeaders: [await createHeaders('customer', customers[0]), await createHeaders('customer', customers[1])],
  };
}
