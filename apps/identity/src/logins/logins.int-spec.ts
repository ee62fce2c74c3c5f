import { newApiKey } from '@svc/auth';
import { SCOPES_OF, TOKEN_AUDIENCE, TOKEN_ISSUER, TOKEN_SECONDS, type TokenKeyJwk } from '@svc/contracts';
import { httpClient, type HttpResponse, SERVICE_SECURITY_HEADERS, type TestService } from '@svc/testing';
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import {
  adminClient,
  createPartner,
  logIn,
  partnerClient,
  startIdentity,
  type TestPartner,
} from '../../test/identity.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const UNKNOWN_ID = '00000000-0000-7000-8000-000000000000';
const PASSWORD = 'correct horse battery';

let identity: TestService;
let partner: TestPartner;
beforeAll(async () => {
  identity = await startIdentity();
});
afterAll(() => identity.stop());
beforeEach(async () => {
  partner = await createPartner(identity);
});

const serviceLogin = (body: object, apiKey = partner.apiKey) =>
  httpClient(identity.service, { 'x-api-key': apiKey })('POST', '/v1/auth/service/login', body);
const serviceLoginWithoutKey = (body: object) => httpClient(identity.service)('POST', '/v1/auth/service/login', body);
/** Verifies a token with the published keys. */
const verify = async (token: string) => {
  const { keys } = (await httpClient(identity.service)('GET', '/.well-known/jwks.json')).body as {
    keys: TokenKeyJwk[];
  };
  const options = { issuer: TOKEN_ISSUER, audience: TOKEN_AUDIENCE, currentDate: identity.clock.now() };
  return jwtVerify(token, createLocalJWKSet({ keys: keys.map((key) => ({ ...key })) }), options);
};

describe('POST /v1/auth/service/login', () => {
  it('responds with a token that the published keys verify', async () => {
    const response = await serviceLogin({
      organisationId: partner.organisationId,
      apiToken: partner.apiToken,
      more: 1,
    });
    expect(response).toMatchObject({ status: 200, headers: { 'cache-control': 'no-store' } });
    const { identityToken } = response.body;
    expect(response.body).toEqual({ identityToken, tokenType: 'Bearer', expiresIn: 900 });

    const { payload, protectedHeader } = await verify(identityToken);
    expect(protectedHeader).toEqual({ alg: 'ES256', typ: 'JWT', kid: expect.stringMatching(UUID) });
    const iat = identity.clock.now().getTime() / 1000;
    expect(payload).toEqual({
      iss: TOKEN_ISSUER,
      aud: TOKEN_AUDIENCE,
      sub: partner.tokenId,
      org: partner.organisationId,
      typ: 'service',
      mode: 'test',
      scope: SCOPES_OF.service.join(' '),
      iat,
      exp: iat + TOKEN_SECONDS,
      jti: expect.stringMatching(UUID),
    });
    expect(await logIn(identity, partner)).not.toBe(identityToken);
  });

  it('accepts the organisationId in upper and lower case', async () => {
    const organisationId = partner.organisationId.toUpperCase();
    expect((await serviceLogin({ organisationId, apiToken: partner.apiToken })).status).toBe(200);
  });

  it('responds 401 with an empty body to wrong credentials, and to credentials of different organisations or modes', async () => {
    const other = await createPartner(identity);
    const live = await createPartner(identity, 'live');
    const { organisationId, apiToken, apiKey } = partner;
    const failedLogins: [body: object, apiKey: string][] = [
      [{ organisationId, apiToken: other.apiToken }, apiKey],
      [{ organisationId: other.organisationId, apiToken }, apiKey],
      [{ organisationId: other.organisationId, apiToken: other.apiToken }, apiKey],
      [{ organisationId, apiToken }, other.apiKey],
      [{ organisationId: UNKNOWN_ID, apiToken }, apiKey],
      [{ organisationId: 'nonsense', apiToken }, apiKey],
      [{ organisationId, apiToken: `${apiToken}x` }, apiKey],
      [{ organisationId, apiToken: apiKey }, apiKey],
      [{ organisationId, apiToken }, live.apiKey],
      [{ organisationId, apiToken }, newApiKey('partner', 'test')],
    ];
    for (const [body, key] of failedLogins) expectEmpty401(await serviceLogin(body, key));
    // Credentials are checked before the body is validated (C5).
    for (const body of [{ organisationId, apiToken }, {}]) {
      expectEmpty401(await serviceLogin(body, apiToken), 'credentials.key-malformed');
      expectEmpty401(await serviceLogin(body, newApiKey('merchant', 'test')), 'credentials.partner-key-needed');
      expectEmpty401(await serviceLoginWithoutKey(body), 'credentials.key-missing');
    }
  });

  it('rejects an API token or an identity token if its mode is not the mode of the API key', async () => {
    const { organisationId } = partner;
    const admin = adminClient(identity);
    const path = `/admin/v1/organisations/${organisationId}`;
    const { apiKey } = (await admin('POST', `${path}/keys`, { mode: 'live' })).body;
    const { apiToken } = (await admin('POST', `${path}/api-tokens`, { mode: 'live' })).body;
    expect((await serviceLogin({ organisationId, apiToken }, apiKey)).status).toBe(200);
    expect((await serviceLogin({ organisationId, apiToken }, partner.apiKey)).status).toBe(401);
    expect((await serviceLogin({ organisationId, apiToken: partner.apiToken }, apiKey)).status).toBe(401);
    const liveToken = (await serviceLogin({ organisationId, apiToken }, apiKey)).body.identityToken;
    const clientWithMixedModes = partnerClient(identity, partner, liveToken);
    expect(
      (await clientWithMixedModes('POST', '/v1/auth/users', { email: 'a@b.example', password: PASSWORD })).status,
    ).toBe(401);
  });

  it('rejects a revoked API token immediately and a revoked API key within a second', async () => {
    const { organisationId, apiToken, tokenId, keyId } = partner;
    const admin = adminClient(identity);
    expect((await serviceLogin({ organisationId, apiToken })).status).toBe(200);
    await admin('DELETE', `/admin/v1/organisations/${organisationId}/api-tokens/${tokenId}`);
    expect((await serviceLogin({ organisationId, apiToken })).status).toBe(401);
    const newToken = (await admin('POST', `/admin/v1/organisations/${organisationId}/api-tokens`, { mode: 'test' }))
      .body;
    expect((await serviceLogin({ organisationId, apiToken: newToken.apiToken })).status).toBe(200);
    await admin('DELETE', `/admin/v1/organisations/${organisationId}/keys/${keyId}`);
    identity.clock.advance(1_000);
    expect((await serviceLogin({ organisationId, apiToken: newToken.apiToken })).status).toBe(401);
  });
});

/**
 * Every failed login gets the 401 with the code `credentials.invalid`. Its headers and its empty body reveal nothing
 * about the cause (A1, A5).
 */
function expectEmpty401({ status, body, headers }: HttpResponse, code = 'credentials.invalid'): void {
  const { 'x-request-id': _requestId, date: _date, connection: _connection, ...rest } = headers;
  expect({ status, body, headers: rest }).toEqual({
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
}

describe('the API of users and customers', () => {
  let call: ReturnType<typeof httpClient>;
  beforeEach(async () => {
    call = partnerClient(identity, partner, await logIn(identity, partner));
  });

  const createUser = async (email = 'Thandi@Example.com', names: object = {}) =>
    (await call('POST', '/v1/auth/users', { email, password: PASSWORD, ...names })).body.userId as string;
  const createCustomer = async (email?: string, names: object = {}) =>
    (await call('POST', '/v1/auth/customers/register', { userId: await createUser(email, names) })).body;
  const login = (email: string, password: string) => call('POST', '/v1/auth/customers/login', { email, password });

  it('creates one user for each email of an organisation, regardless of upper and lower case', async () => {
    const response = await call('POST', '/v1/auth/users', { email: 'Thandi@Example.com', password: PASSWORD });
    expect(response).toMatchObject({ status: 201 });
    expect(response.body).toEqual({ userId: expect.stringMatching(UUID) });
    const repeated = await call('POST', '/v1/auth/users', {
      email: 'thandi@example.COM',
      password: 'another password',
    });
    expect(repeated).toMatchObject({ status: 409, body: { errors: [{ field: 'email' }] } });
    const other = await createPartner(identity);
    const otherClient = partnerClient(identity, other, await logIn(identity, other));
    expect(
      (await otherClient('POST', '/v1/auth/users', { email: 'thandi@example.com', password: PASSWORD })).status,
    ).toBe(201);
    const rows = await identity.dataSource.query<{ text: string }[]>(`SELECT users::text AS text FROM users`);
    expect(rows.map(({ text }) => text).join()).toContain('thandi@example.com');
    for (const { text } of rows) expect(text).not.toContain(PASSWORD);
  });

  it('registers a user as a customer once', async () => {
    const userId = await createUser('thandi@example.com', { firstName: 'Thandi', lastName: 'Nkosi' });
    const register = () => call('POST', '/v1/auth/customers/register', { userId });
    const responses = await Promise.all(Array.from({ length: 5 }, register));
    expect(responses.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 200, 201]);
    const body = responses[0]!.body as Record<string, string>;
    for (const response of [...responses, await register()]) expect(response.body).toEqual(body);
    expect(body).toEqual({
      customerReference: expect.stringMatching(UUID),
      userId,
      organisationId: partner.organisationId,
      createdUTCDate: identity.clock.nowISO(),
    });
  });

  it('responds 404 to the registration of a user of another organisation', async () => {
    const userId = await createUser();
    const other = await createPartner(identity);
    const otherClient = partnerClient(identity, other, await logIn(identity, other));
    expect((await otherClient('POST', '/v1/auth/customers/register', { userId })).status).toBe(404);
    for (const unknown of [UNKNOWN_ID, 'nonsense'])
      expect((await call('POST', '/v1/auth/customers/register', { userId: unknown })).status).toBe(404);
  });

  it('logs a customer in with the email in upper or lower case and with blanks', async () => {
    const { customerReference } = await createCustomer('thandi@example.com', { firstName: 'Thandi' });
    const response = await login(' THANDI@example.com', PASSWORD);
    expect(response).toMatchObject({ status: 200, headers: { 'cache-control': 'no-store' } });
    const { identityToken } = response.body;
    expect(response.body).toEqual({
      identityToken,
      tokenType: 'Bearer',
      expiresIn: 900,
      customer: { id: customerReference, firstName: 'Thandi', lastName: '' },
    });
    const { payload } = await verify(identityToken);
    expect(payload).toMatchObject({
      sub: customerReference,
      org: partner.organisationId,
      typ: 'customer',
      scope: SCOPES_OF.customer.join(' '),
    });
  });

  it('responds 403 if the token of a customer is used to register, create or log in users', async () => {
    await createCustomer('thandi@example.com');
    const { identityToken } = (await login('thandi@example.com', PASSWORD)).body;
    const customerClient = partnerClient(identity, partner, identityToken);
    expect(
      (await customerClient('POST', '/v1/auth/customers/register', { userId: await createUser('b@example.com') }))
        .status,
    ).toBe(403);
    expect(
      (await customerClient('POST', '/v1/auth/users', { email: 'c@example.com', password: PASSWORD })).status,
    ).toBe(403);
    expect((await customerClient('POST', '/v1/auth/customers/login', {})).status).toBe(403);
  });

  it('sends the same 401 for a wrong password, an unknown email and a user who is not a customer', async () => {
    await createCustomer('known@example.com');
    await createUser('user@example.com');
    const other = await createPartner(identity);
    const otherClient = partnerClient(identity, other, await logIn(identity, other));
    const { userId } = (
      await otherClient('POST', '/v1/auth/users', { email: 'others@example.com', password: PASSWORD })
    ).body;
    await otherClient('POST', '/v1/auth/customers/register', { userId });
    const responses = [
      await login('known@example.com', `${PASSWORD}!`),
      await login('known@example.com', ''),
      await login('nobody@example.com', PASSWORD),
      await login('user@example.com', PASSWORD),
      await login('others@example.com', PASSWORD),
      await login('no address', PASSWORD),
    ];
    for (const response of responses) expectEmpty401(response);
  });

  it.each([
    ['known', 200],
    ['unknown', 401],
  ])(
    'locks the %s email after five failures, and responds %d to a login 15 minutes after the first failure',
    async (kind, statusWhenUnlocked) => {
      const email = `${kind}@example.com`;
      if (kind === 'known') await createCustomer(email);
      for (let i = 0; i < 4; i++) {
        expect((await login(email, 'wrong password')).status).toBe(401);
        identity.clock.advance(60_000);
      }
      // The right password does not count as a failure, and does not reset the count.
      const lastPasswords = kind === 'known' ? [PASSWORD, 'wrong password'] : ['wrong password'];
      const statuses = [];
      for (const password of lastPasswords) statuses.push((await login(email, password)).status);
      expect(statuses).toEqual(kind === 'known' ? [200, 401] : [401]);
      // The first failure was four minutes ago, so the lock ends in eleven minutes.
      for (const password of [PASSWORD, 'wrong password']) {
        const response = await login(email.toUpperCase(), password);
        expect(response).toMatchObject({ status: 429, headers: { 'retry-after': String(11 * 60) } });
      }
      identity.clock.advance(11 * 60_000 - 1);
      expect((await login(email, PASSWORD)).status).toBe(429);
      identity.clock.advance(1);
      // The service token of the client has expired by now.
      call = partnerClient(identity, partner, await logIn(identity, partner));
      expect((await login(email, PASSWORD)).status).toBe(statusWhenUnlocked);
    },
  );

  it('checks only five of twenty passwords that are sent concurrently for one email', async () => {
    await createCustomer('thandi@example.com');
    const responses = await Promise.all(
      Array.from({ length: 20 }, () => login('thandi@example.com', 'wrong password')),
    );
    const statuses = responses.map(({ status }) => status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(5);
    expect(statuses.filter((status) => status === 429)).toHaveLength(15);
  });

  it('locks an address after a hundred failures with any emails if no customer has logged in from the address', async () => {
    // The failures of earlier tests expire.
    identity.clock.advance(15 * 60_000);
    const createClient = async () => partnerClient(identity, partner, await logIn(identity, partner));
    const client = await createClient();
    const responses = [];
    for (let i = 0; i < 101; i++)
      responses.push(
        await client('POST', '/v1/auth/customers/login', { email: `nobody${i}@example.com`, password: 'x' }),
      );
    expect(responses.slice(0, 100).every(({ status }) => status === 401)).toBe(true);
    expect(responses[100]).toMatchObject({ status: 429, headers: { 'retry-after': '900' } });
    // Customers of another organisation are not locked out, even if they use the same address, such as a proxy.
    const otherPartner = await createPartner(identity);
    const otherClient = partnerClient(identity, otherPartner, await logIn(identity, otherPartner));
    const otherResponse = await otherClient('POST', '/v1/auth/customers/login', {
      email: 'nobody@example.com',
      password: 'x',
    });
    expect(otherResponse.status).toBe(401);
    identity.clock.advance(15 * 60_000);
    const newClient = await createClient();
    expect(
      (await newClient('POST', '/v1/auth/customers/login', { email: 'a@example.com', password: 'x' })).status,
    ).toBe(401);
    const rows = await identity.dataSource.query<[{ count: number }]>(`SELECT count(*) FROM login_failures`);
    // The 101 failed logins before the last login inserted two rows each. The last login deleted 20 expired rows and
    // inserted two rows.
    expect(rows[0].count).toBeLessThanOrEqual(202 - 20 + 2);
  });
});

test('the kid of a token is the id of a published key', async () => {
  const { kid } = decodeProtectedHeader(await logIn(identity, partner));
  const response = await httpClient(identity.service)('GET', '/.well-known/jwks.json');
  expect(response.headers['cache-control']).toBe('public, max-age=300');
  const coordinate = expect.stringMatching(/^[A-Za-z0-9_-]{43}$/);
  expect(response.body).toEqual({
    keys: [{ kty: 'EC', crv: 'P-256', x: coordinate, y: coordinate, kid, use: 'sig', alg: 'ES256' }],
  });
});
