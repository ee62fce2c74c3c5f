import { createHmac, createPublicKey, randomUUID } from 'node:crypto';
import { Controller, Get, Module } from '@nestjs/common';
import {
  type Mode,
  PartnerKeyChangedV1,
  SCOPES_OF,
  TOKEN_AUDIENCE,
  TOKEN_ISSUER,
  TOKEN_SECONDS,
  type TokenKeyChanged,
  TokenKeyChangedV1,
} from '@svc/contracts';
import { ServiceConfig, startService } from '@svc/service';
import { anEvent, httpClient, SERVICE_SECURITY_HEADERS, startTestService, type TestService } from '@svc/testing';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { hashApiKey, newApiKey } from '../api-keys/api-key.js';
import { PartnerCredentials1763500000020 } from '../migrations/1763500000020-partner-credentials.js';
import { type AuthenticatedPartner, ForPartners, Partner } from './partner.guard.js';
import { PartnerAuthModule } from './partner-auth.module.js';
import { PartnerTokens } from './partner-tokens.js';

@Controller('caller')
@ForPartners('payments:read')
class CallerController {
  @Get()
  getCaller(@Partner() partner: AuthenticatedPartner): AuthenticatedPartner {
    return partner;
  }

  @Get('customers')
  @ForPartners('customers:write')
  getServiceCaller(@Partner() partner: AuthenticatedPartner): AuthenticatedPartner {
    return partner;
  }
}

@Module({ imports: [PartnerAuthModule], controllers: [CallerController] })
class MainApiModule {}

const definition = {
  name: 'main-api',
  config: ServiceConfig,
  module: MainApiModule,
  migrations: [PartnerCredentials1763500000020],
};

/** The key pair of tokens as identity creates it: the public key as a JWK, and the private key. */
async function createTokenKey(kid: string = randomUUID()) {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  const { x, y } = await exportJWK(publicKey);
  const publicJwk = { kty: 'EC', crv: 'P-256', x: x!, y: y!, kid, use: 'sig', alg: 'ES256' } as const;
  return { kid, publicJwk, privateKey };
}

describe('PartnerGuard', () => {
  let service: TestService;
  let tokenKey: Awaited<ReturnType<typeof createTokenKey>>;
  const organisationId = randomUUID();
  let apiKey: string;

  beforeAll(async () => {
    service = await startTestService(definition);
  });
  afterAll(() => service?.stop());
  beforeEach(async () => {
    tokenKey = await createTokenKey();
    await publishTokenKey({ publicJwk: tokenKey.publicJwk, withdrawn: false });
    ({ apiKey } = await publishPartnerKey());
  });

  const publishTokenKey = (payload: TokenKeyChanged, version = 1) =>
    service.deliver(anEvent(TokenKeyChangedV1, payload.publicJwk.kid, version, payload));

  async function publishPartnerKey(fields: { organisationId?: string; mode?: Mode } = {}) {
    const { mode = 'test' } = fields;
    const partnerKey = newApiKey('partner', mode);
    const event = {
      keyId: randomUUID(),
      organisationId,
      mode,
      hash: hashApiKey(partnerKey),
      revoked: false,
      ...fields,
    };
    await service.deliver(anEvent(PartnerKeyChangedV1, event.keyId, 1, event));
    const revoke = () => service.deliver(anEvent(PartnerKeyChangedV1, event.keyId, 2, { ...event, revoked: true }));
    return { apiKey: partnerKey, revoke };
  }

  const createClaims = (changes: JWTPayload = {}): JWTPayload => {
    const iat = Math.floor(service.clock.now().getTime() / 1000);
    const scope = SCOPES_OF.service.join(' ');
    return {
      iss: TOKEN_ISSUER,
      aud: TOKEN_AUDIENCE,
      sub: randomUUID(),
      org: organisationId,
      typ: 'service',
      mode: 'test',
      scope,
      iat,
      exp: iat + TOKEN_SECONDS,
      jti: randomUUID(),
      ...changes,
    };
  };
  const signToken = (changes: JWTPayload = {}, signingKey = tokenKey) =>
    new SignJWT(createClaims(changes))
      .setProtectedHeader({ alg: 'ES256', kid: signingKey.kid, typ: 'JWT' })
      .sign(signingKey.privateKey);
  /** Calls the route. An empty API key is not sent. */
  const call = (authorization: string | undefined, apiKeyHeader: string | undefined = apiKey, path = '/caller') =>
    httpClient(service.service, {
      ...(authorization === undefined ? {} : { authorization }),
      ...(apiKeyHeader === '' ? {} : { 'x-api-key': apiKeyHeader }),
    })('GET', path);
  const signBearerToken = async (changes: JWTPayload = {}, signingKey = tokenKey) =>
    `Bearer ${await signToken(changes, signingKey)}`;

  it('admits a partner with its API key and an identity token', async () => {
    const response = await call(await signBearerToken());
    expect(response).toMatchObject({ status: 200 });
    expect(response.body).toEqual({ organisationId, mode: 'test' });
    expect((await call(await signBearerToken(), apiKey, '/caller/customers')).status).toBe(200);
  });

  it('admits a partner in live mode with a live key and a live token', async () => {
    const { apiKey: live } = await publishPartnerKey({ mode: 'live' });
    const response = await call(await signBearerToken({ mode: 'live' }), live);
    expect([response.status, response.body]).toEqual([200, { organisationId, mode: 'live' }]);
  });

  it('does not rely on the comparison with the mode of the key: PartnerTokens already rejects a token with an unknown mode', async () => {
    const tokens = service.service.app.get(PartnerTokens, { strict: false });
    const verify = async (mode: unknown) =>
      tokens.verify({ headers: { authorization: await signBearerToken({ mode }) } });
    for (const mode of ['test', 'live']) expect(await verify(mode)).toMatchObject({ mode });
    for (const mode of [undefined, '', 'Live', ['test']])
      await expect(verify(mode)).rejects.toMatchObject({ code: 'credentials.invalid' });
  });

  it('admits a customer to a route if its token has the scope of the route, and responds 403 otherwise', async () => {
    const sub = randomUUID();
    const customer = await signBearerToken({ sub, typ: 'customer', scope: SCOPES_OF.customer.join(' ') });
    expect((await call(customer)).body).toMatchObject({ customerReference: sub });
    const response = await call(customer, apiKey, '/caller/customers');
    expect(response).toMatchObject({ status: 403, body: { status: 403 } });
  });

  /** Status, body and all headers, without those that differ for each response. */
  const describe401 = ({ status, headers, body }: Awaited<ReturnType<typeof call>>): unknown => {
    const { date: _date, 'x-request-id': _requestId, connection: _connection, ...rest } = headers;
    return { status, body, headers: rest };
  };
  const newEmpty401 = (code: string): unknown => ({
    status: 401,
    body: undefined,
    headers: {
      ...SERVICE_SECURITY_HEADERS,
      'cache-control': 'no-store',
      'content-length': '0',
      'x-error-code': code,
      link: `</errors/${code}>; rel="help"`,
    },
  });

  it('responds 401 without a body to a token that expired, also if its signature is not of identity', async () => {
    const exp = Math.floor(service.clock.now().getTime() / 1000) - 1;
    const response = await call(await signBearerToken({ exp }, await createTokenKey()));
    expect(describe401(response)).toEqual(newEmpty401('credentials.token-expired'));
  });

  const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signHs256Token = (secret: string | Buffer): string => {
    const head = `${base64url({ alg: 'HS256', kid: tokenKey.kid, typ: 'JWT' })}.${base64url(createClaims())}`;
    return `${head}.${createHmac('sha256', secret).update(head).digest('base64url')}`;
  };
  const publicKey = () => createPublicKey({ key: { ...tokenKey.publicJwk }, format: 'jwk' });
  const invalidTokens: [
    problem: string,
    createAuthorization: () => Promise<string | undefined> | string | undefined,
  ][] = [
    ['is missing', () => undefined],
    ['is empty', () => 'Bearer '],
    ['is not a JWT', () => 'Bearer nonsense'],
    ['is sent with the scheme Basic', async () => `Basic ${await signToken()}`],
    ['is of another issuer', () => signBearerToken({ iss: 'urn:svc:other' })],
    ['has no issuer', () => signBearerToken({ iss: undefined } as unknown as JWTPayload)],
    ['is for another audience', () => signBearerToken({ aud: 'urn:svc:other' })],
    ['has no audience', () => signBearerToken({ aud: undefined } as unknown as JWTPayload)],
    [
      'has the algorithm none',
      () => `Bearer ${base64url({ alg: 'none', kid: tokenKey.kid })}.${base64url(createClaims())}.`,
    ],
    [
      'has the algorithm none and a signature',
      async () => {
        const [, , signature] = (await signToken()).split('.');
        return `Bearer ${base64url({ alg: 'none', kid: tokenKey.kid })}.${base64url(createClaims())}.${signature}`;
      },
    ],
    [
      'is signed by HS256 with the public key as PEM',
      () => `Bearer ${signHs256Token(publicKey().export({ type: 'spki', format: 'pem' }))}`,
    ],
    [
      'is signed by HS256 with the public key as DER',
      () => `Bearer ${signHs256Token(publicKey().export({ type: 'spki', format: 'der' }))}`,
    ],
    [
      'is signed by HS256 with the public key as JWK',
      () => `Bearer ${signHs256Token(JSON.stringify(tokenKey.publicJwk))}`,
    ],
    [
      'expired a second ago',
      async () => {
        const expiringToken = await signBearerToken();
        service.clock.advance((TOKEN_SECONDS + 1) * 1000);
        return expiringToken;
      },
    ],
    [
      'expires now',
      async () => {
        const expiringToken = await signBearerToken();
        service.clock.advance(TOKEN_SECONDS * 1000);
        return expiringToken;
      },
    ],
    ['has no expiry', () => signBearerToken({ exp: undefined } as unknown as JWTPayload)],
    ['is of another organisation than the API key', () => signBearerToken({ org: randomUUID() })],
    ['is of another mode than the API key', () => signBearerToken({ mode: 'live' })],
    ['has no mode', () => signBearerToken({ mode: undefined })],
    ['has another type', () => signBearerToken({ typ: 'admin' })],
    ['has no scope', () => signBearerToken({ scope: undefined })],
    ['has no id', () => signBearerToken({ jti: undefined } as unknown as JWTPayload)],
    ['is signed by a key that identity did not publish', async () => signBearerToken({}, await createTokenKey())],
    [
      'is signed by another key with the kid of a published key',
      async () => signBearerToken({}, await createTokenKey(tokenKey.kid)),
    ],
    [
      'has no kid',
      async () =>
        `Bearer ${await new SignJWT(createClaims()).setProtectedHeader({ alg: 'ES256' }).sign(tokenKey.privateKey)}`,
    ],
    [
      'contains its own public key',
      async () => {
        const own = await createTokenKey();
        const header = { alg: 'ES256', kid: own.kid, jwk: { ...own.publicJwk } };
        return `Bearer ${await new SignJWT(createClaims()).setProtectedHeader(header).sign(own.privateKey)}`;
      },
    ],
    [
      'was modified after it was signed',
      async () => {
        const [head, , signature] = (await signToken()).split('.');
        return `Bearer ${head}.${base64url(createClaims({ org: organisationId, typ: 'service' }))}.${signature}`;
      },
    ],
    ['is longer than 4 096 characters', () => signBearerToken({ more: 'x'.repeat(5_000) })],
  ];
  const CODES_OF_TEXTS: Readonly<Record<string, string>> = {
    'is missing': 'credentials.token-missing',
    'is empty': 'credentials.token-missing',
    'is sent with the scheme Basic': 'credentials.token-missing',
    'is not a JWT': 'credentials.token-malformed',
    'is longer than 4 096 characters': 'credentials.token-malformed',
    'has no expiry': 'credentials.token-malformed',
    'expired a second ago': 'credentials.token-expired',
    'expires now': 'credentials.token-expired',
  };
  it.each(invalidTokens)('responds 401 without a body to a token that %s', async (problem, createAuthorization) => {
    const response = await call(await createAuthorization());
    expect(describe401(response)).toEqual(newEmpty401(CODES_OF_TEXTS[problem] ?? 'credentials.invalid'));
    // Afterwards the service still accepts a valid token.
    expect((await call(await signBearerToken())).status).toBe(200);
  });

  it('responds 401 without a body to a wrong API key, both with and without a valid token', async () => {
    const { apiKey: otherPartnerKey } = await publishPartnerKey({ organisationId: randomUUID() });
    const { apiKey: live } = await publishPartnerKey({ mode: 'live' });
    const keys: [wrongKey: string, code: string][] = [
      ['', 'credentials.key-missing'],
      ['nonsense', 'credentials.key-malformed'],
      [`${apiKey}x`, 'credentials.key-malformed'],
      [newApiKey('merchant', 'test'), 'credentials.partner-key-needed'],
      [newApiKey('site', 'live'), 'credentials.partner-key-needed'],
      [newApiKey('partner', 'test'), 'credentials.invalid'],
    ];
    for (const [wrongKey, code] of keys)
      for (const authorization of [await signBearerToken(), undefined])
        expect(describe401(await call(authorization, wrongKey))).toEqual(newEmpty401(code));
    // Valid keys that do not belong to the token.
    for (const wrongKey of [otherPartnerKey, live]) {
      expect(describe401(await call(await signBearerToken(), wrongKey))).toEqual(newEmpty401('credentials.invalid'));
      expect(describe401(await call(undefined, wrongKey))).toEqual(newEmpty401('credentials.token-missing'));
    }
  });

  it('rejects a revoked API key, and a token whose signing key was withdrawn, within a second of the event', async () => {
    const { apiKey: secondKey, revoke } = await publishPartnerKey();
    const authorization = await signBearerToken();
    expect((await call(authorization, secondKey)).status).toBe(200);
    await revoke();
    service.clock.advance(1_000);
    expect((await call(authorization, secondKey)).status).toBe(401);
    expect((await call(authorization)).status).toBe(200);
    await publishTokenKey({ publicJwk: tokenKey.publicJwk, withdrawn: true }, 2);
    service.clock.advance(1_000);
    expect((await call(authorization)).status).toBe(401);
    // A late event with a lower version does not restore the withdrawn key.
    await publishTokenKey({ publicJwk: tokenKey.publicJwk, withdrawn: false }, 1);
    expect((await call(authorization)).status).toBe(401);
  });

  it('caches an API key for less than a second, so that frequent calls need no query', async () => {
    const { apiKey: secondKey, revoke } = await publishPartnerKey();
    const authorization = await signBearerToken();
    expect((await call(authorization, secondKey)).status).toBe(200);
    await revoke();
    service.clock.advance(999);
    expect((await call(authorization, secondKey)).status).toBe(200);
    service.clock.advance(1);
    expect((await call(authorization, secondKey)).status).toBe(401);
  });

  it('accepts tokens of the current and of the next signing key during a rotation', async () => {
    const next = await createTokenKey();
    expect((await call(await signBearerToken({}, next))).status).toBe(401);
    await publishTokenKey({ publicJwk: next.publicJwk, withdrawn: false });
    expect((await call(await signBearerToken({}, next))).status).toBe(200);
    expect((await call(await signBearerToken())).status).toBe(200);
  });

  it('does not store a token key that cannot verify signatures', async () => {
    // The coordinate x is not one of a point on the curve.
    const unusableJwk = { ...(await createTokenKey()).publicJwk, x: 'AAAA' };
    await publishTokenKey({ publicJwk: unusableJwk, withdrawn: false });
    const [row] = await service.dataSource.query<[{ count: number }]>(
      `SELECT count(*) FROM known_token_keys WHERE kid = $1`,
      [unusableJwk.kid],
    );
    expect(row.count).toBe(0);
  });

  it('admits partners in a service that restarted while identity is unavailable', async () => {
    const authorization = await signBearerToken();
    const env = {
      SVC_ENVIRONMENT: 'development',
      SVC_LOG_LEVEL: 'silent',
      SVC_DATABASE_URL: String((service.dataSource.options as { url?: string }).url),
    };
    const restartedService = await startService(definition, { env, clock: service.clock });
    try {
      const headers = { authorization, 'x-api-key': apiKey };
      expect((await restartedService.app.inject({ method: 'GET', url: '/caller', headers })).statusCode).toBe(200);
    } finally {
      await restartedService.close();
    }
  });

  it('verifies tokens with the tables of its own service if several services share a process', async () => {
    const otherService = await startTestService({ ...definition, name: 'neighbour' });
    try {
      expect((await call(await signBearerToken())).status).toBe(200);
      const headers = { authorization: await signBearerToken(), 'x-api-key': apiKey };
      expect((await otherService.service.app.inject({ method: 'GET', url: '/caller', headers })).statusCode).toBe(401);
    } finally {
      await otherService.stop();
    }
  });

  it('responds 500, not 401, when the table of token keys is missing', async () => {
    const authorization = await signBearerToken();
    await service.superuser.query(`ALTER TABLE known_token_keys RENAME TO renamed_token_keys`);
    const response = await call(authorization);
    expect(response.status).toBe(500);
    await service.superuser.query(`ALTER TABLE renamed_token_keys RENAME TO known_token_keys`);
  });
});
