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
import { anEvent, httpClient, startTestService, type TestService } from '@svc/testing';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { hashApiKey, newApiKey } from '../api-keys/api-key.js';
import { PartnerCredentials1763500000020 } from '../migrations/1763500000020-partner-credentials.js';
import { type AuthenticatedPartner, ForPartners, Partner } from './partner.guard.js';
import { PartnerAuthModule } from './partner-auth.module.js';
import { PartnerTokens } from './partner-tokens.js';

@Controller('who')
@ForPartners('payments:read')
class WhoController {
  @Get()
  whoami(@Partner() partner: AuthenticatedPartner): AuthenticatedPartner {
    return partner;
  }

  @Get('customers')
  @ForPartners('customers:write')
  service(@Partner() partner: AuthenticatedPartner): AuthenticatedPartner {
    return partner;
  }
}

@Module({ imports: [PartnerAuthModule], controllers: [WhoController] })
class MainApiModule {}

const definition = {
  name: 'main-api',
  config: ServiceConfig,
  module: MainApiModule,
  migrations: [PartnerCredentials1763500000020],
};

/** A token key as identity creates it, with its private key. */
async function aTokenKey(kid: string = randomUUID()) {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  const { x, y } = await exportJWK(publicKey);
  const publicJwk = { kty: 'EC', crv: 'P-256', x: x!, y: y!, kid, use: 'sig', alg: 'ES256' } as const;
  return { kid, publicJwk, privateKey };
}

describe('PartnerGuard', () => {
  let test: TestService;
  let key: Awaited<ReturnType<typeof aTokenKey>>;
  const organisationId = randomUUID();
  let apiKey: string;

  beforeEach(async () => {
    test = await startTestService(definition);
    key = await aTokenKey();
    await publishTokenKey({ publicJwk: key.publicJwk, withdrawn: false });
    ({ apiKey } = await aPartnerKey());
  });
  afterEach(() => test.stop());

  const publishTokenKey = (payload: TokenKeyChanged, version = 1) =>
    test.deliver(anEvent(TokenKeyChangedV1, payload.publicJwk.kid, version, payload));

  async function aPartnerKey(fields: { organisationId?: string; mode?: Mode } = {}) {
    const { mode = 'test' } = fields;
    const made = newApiKey('partner', mode);
    const event = { keyId: randomUUID(), organisationId, mode, hash: hashApiKey(made), revoked: false, ...fields };
    await test.deliver(anEvent(PartnerKeyChangedV1, event.keyId, 1, event));
    const revoke = () => test.deliver(anEvent(PartnerKeyChangedV1, event.keyId, 2, { ...event, revoked: true }));
    return { apiKey: made, revoke };
  }

  const claims = (over: JWTPayload = {}): JWTPayload => {
    const iat = Math.floor(test.clock.now().getTime() / 1000);
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
      ...over,
    };
  };
  const token = (over: JWTPayload = {}, by = key) =>
    new SignJWT(claims(over)).setProtectedHeader({ alg: 'ES256', kid: by.kid, typ: 'JWT' }).sign(by.privateKey);
  const call = (authorization: string | undefined, withKey: string | undefined = apiKey, path = '/who') =>
    httpClient(test.service, {
      ...(authorization === undefined ? {} : { authorization }),
      ...(withKey === '' ? {} : { 'x-api-key': withKey }),
    })('GET', path);
  const bearer = async (over: JWTPayload = {}, by = key) => `Bearer ${await token(over, by)}`;

  it('accepts a partner with its key and its token', async () => {
    const answer = await call(await bearer());
    expect(answer).toMatchObject({ status: 200 });
    expect(answer.body).toEqual({ organisationId, mode: 'test' });
    expect((await call(await bearer(), apiKey, '/who/customers')).status).toBe(200);
  });

  it('accepts a partner in live mode with a live key and token', async () => {
    const { apiKey: live } = await aPartnerKey({ mode: 'live' });
    const answer = await call(await bearer({ mode: 'live' }), live);
    expect([answer.status, answer.body]).toEqual([200, { organisationId, mode: 'live' }]);
  });

  it('does not verify a token of an unknown mode, even before it compares the mode with that of the key', async () => {
    const tokens = test.service.app.get(PartnerTokens, { strict: false });
    const verify = async (mode: unknown) => tokens.verify({ headers: { authorization: await bearer({ mode }) } });
    for (const mode of ['test', 'live']) expect(await verify(mode)).toMatchObject({ mode });
    for (const mode of [undefined, '', 'Live', ['test']])
      await expect(verify(mode)).rejects.toMatchObject({ code: 'credentials.invalid' });
  });

  it('accepts a customer if the scope allows it, and answers 403 otherwise', async () => {
    const sub = randomUUID();
    const customer = await bearer({ sub, typ: 'customer', scope: SCOPES_OF.customer.join(' ') });
    expect((await call(customer)).body).toMatchObject({ customerReference: sub });
    const answer = await call(customer, apiKey, '/who/customers');
    expect(answer).toMatchObject({ status: 403, body: { status: 403 } });
  });

  const b64 = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const hs256 = (secret: string | Buffer): string => {
    const head = `${b64({ alg: 'HS256', kid: key.kid, typ: 'JWT' })}.${b64(claims())}`;
    return `${head}.${createHmac('sha256', secret).update(head).digest('base64url')}`;
  };
  const publicKey = () => createPublicKey({ key: { ...key.publicJwk }, format: 'jwk' });
  const wrong: [what: string, authorization: () => Promise<string | undefined> | string | undefined][] = [
    ['is not there', () => undefined],
    ['is empty', () => 'Bearer '],
    ['is nonsense', () => 'Bearer nonsense'],
    ['is of another scheme', async () => `Basic ${await token()}`],
    ['is of another issuer', () => bearer({ iss: 'urn:svc:other' })],
    ['has no issuer', () => bearer({ iss: undefined } as unknown as JWTPayload)],
    ['is for another audience', () => bearer({ aud: 'urn:svc:other' })],
    ['has no audience', () => bearer({ aud: undefined } as unknown as JWTPayload)],
    ['is of alg none', () => `Bearer ${b64({ alg: 'none', kid: key.kid })}.${b64(claims())}.`],
    [
      'is of alg none with a signature',
      async () => {
        const [, , signature] = (await token()).split('.');
        return `Bearer ${b64({ alg: 'none', kid: key.kid })}.${b64(claims())}.${signature}`;
      },
    ],
    [
      'is HS256, signed with the public key as PEM',
      () => `Bearer ${hs256(publicKey().export({ type: 'spki', format: 'pem' }))}`,
    ],
    [
      'is HS256, signed with the public key as DER',
      () => `Bearer ${hs256(publicKey().export({ type: 'spki', format: 'der' }))}`,
    ],
    ['is HS256, signed with the public key as JWK', () => `Bearer ${hs256(JSON.stringify(key.publicJwk))}`],
    [
      'ran out a second ago',
      async () => {
        const made = await bearer();
        test.clock.advance((TOKEN_SECONDS + 1) * 1000);
        return made;
      },
    ],
    [
      'runs out now',
      async () => {
        const made = await bearer();
        test.clock.advance(TOKEN_SECONDS * 1000);
        return made;
      },
    ],
    ['never runs out', () => bearer({ exp: undefined } as unknown as JWTPayload)],
    ['is of another organisation than the key', () => bearer({ org: randomUUID() })],
    ['is of the other mode than the key', () => bearer({ mode: 'live' })],
    ['has no mode', () => bearer({ mode: undefined })],
    ['has another type', () => bearer({ typ: 'admin' })],
    ['has no scope', () => bearer({ scope: undefined })],
    ['has no id', () => bearer({ jti: undefined } as unknown as JWTPayload)],
    ['is signed by a key that nobody published', async () => bearer({}, await aTokenKey())],
    ['is signed by another key under the name of ours', async () => bearer({}, await aTokenKey(key.kid))],
    [
      'names no key',
      async () => `Bearer ${await new SignJWT(claims()).setProtectedHeader({ alg: 'ES256' }).sign(key.privateKey)}`,
    ],
    [
      'brings its own key',
      async () => {
        const own = await aTokenKey();
        const header = { alg: 'ES256', kid: own.kid, jwk: { ...own.publicJwk } };
        return `Bearer ${await new SignJWT(claims()).setProtectedHeader(header).sign(own.privateKey)}`;
      },
    ],
    [
      'was changed',
      async () => {
        const [head, , signature] = (await token()).split('.');
        return `Bearer ${head}.${b64(claims({ org: organisationId, typ: 'service' }))}.${signature}`;
      },
    ],
    ['is longer than any of ours', () => bearer({ more: 'x'.repeat(5_000) })],
  ];
  it.each(wrong)('answers 401 without a body to a token that %s', async (_, authorization) => {
    const answer = await call(await authorization());
    expect([answer.status, answer.body, answer.headers['content-type']]).toEqual([401, undefined, undefined]);
    // The same service accepts a valid token.
    expect((await call(await bearer())).status).toBe(200);
  });

  it('answers 401 without a body to a wrong key, whatever the token', async () => {
    const { apiKey: others } = await aPartnerKey({ organisationId: randomUUID() });
    const { apiKey: live } = await aPartnerKey({ mode: 'live' });
    const keys = [
      '',
      'nonsense',
      newApiKey('partner', 'test'),
      newApiKey('merchant', 'test'),
      others,
      live,
      `${apiKey}x`,
    ];
    for (const wrongKey of keys) {
      for (const authorization of [await bearer(), undefined]) {
        const answer = await call(authorization, wrongKey);
        expect([wrongKey, answer.status, answer.body]).toEqual([wrongKey, 401, undefined]);
      }
    }
  });

  it('refuses a revoked key, and a token whose key was withdrawn, within a second of the event', async () => {
    const { apiKey: second, revoke } = await aPartnerKey();
    const authorization = await bearer();
    expect((await call(authorization, second)).status).toBe(200);
    await revoke();
    test.clock.advance(1_000);
    expect((await call(authorization, second)).status).toBe(401);
    expect((await call(authorization)).status).toBe(200);
    await publishTokenKey({ publicJwk: key.publicJwk, withdrawn: true }, 2);
    test.clock.advance(1_000);
    expect((await call(authorization)).status).toBe(401);
    // A late event restores neither.
    await publishTokenKey({ publicJwk: key.publicJwk, withdrawn: false }, 1);
    expect((await call(authorization)).status).toBe(401);
  });

  it('caches a key for less than a second, so that a busy partner needs no query', async () => {
    const { apiKey: second, revoke } = await aPartnerKey();
    const authorization = await bearer();
    expect((await call(authorization, second)).status).toBe(200);
    await revoke();
    test.clock.advance(999);
    expect((await call(authorization, second)).status).toBe(200);
    test.clock.advance(1);
    expect((await call(authorization, second)).status).toBe(401);
  });

  it('accepts the tokens of the previous and the next key while they overlap', async () => {
    const next = await aTokenKey();
    expect((await call(await bearer({}, next))).status).toBe(401);
    await publishTokenKey({ publicJwk: next.publicJwk, withdrawn: false });
    expect((await call(await bearer({}, next))).status).toBe(200);
    expect((await call(await bearer())).status).toBe(200);
  });

  it('ignores a token key that cannot verify signatures', async () => {
    const broken = { ...(await aTokenKey()).publicJwk, x: 'AAAA' };
    await publishTokenKey({ publicJwk: broken, withdrawn: false });
    const [row] = await test.dataSource.query<[{ count: number }]>(
      `SELECT count(*) FROM known_token_keys WHERE kid = $1`,
      [broken.kid],
    );
    expect(row.count).toBe(0);
  });

  it('works in a service that restarts while identity is unavailable', async () => {
    const authorization = await bearer();
    const env = {
      SVC_ENVIRONMENT: 'development',
      SVC_LOG_LEVEL: 'silent',
      SVC_DATABASE_URL: String((test.dataSource.options as { url?: string }).url),
    };
    const again = await startService(definition, { env, clock: test.clock });
    try {
      const headers = { authorization, 'x-api-key': apiKey };
      expect((await again.app.inject({ method: 'GET', url: '/who', headers })).statusCode).toBe(200);
    } finally {
      await again.close();
    }
  });

  it('verifies with the tables of its own service if several services share a process', async () => {
    const neighbour = await startTestService({ ...definition, name: 'neighbour' });
    try {
      expect((await call(await bearer())).status).toBe(200);
      const headers = { authorization: await bearer(), 'x-api-key': apiKey };
      expect((await neighbour.service.app.inject({ method: 'GET', url: '/who', headers })).statusCode).toBe(401);
    } finally {
      await neighbour.stop();
    }
  });

  it('does not report a token as wrong when its own tables are unavailable', async () => {
    const authorization = await bearer();
    await test.superuser.query(`ALTER TABLE known_token_keys RENAME TO away`);
    const answer = await call(authorization);
    expect(answer.status).toBe(500);
    await test.superuser.query(`ALTER TABLE away RENAME TO known_token_keys`);
  });
});
