import { httpClient, type TestService } from '@svc/testing';
import {
  AUTHENTICATION,
  type AuthenticationRow,
  createNestedObject,
  type Credentials,
  type FieldType,
  NON_TEXT_VALUES,
} from '../test/authentication-rows.js';
import { ADMIN_KEY, createPartner, logIn, partnerClient, startIdentity, type TestPartner } from '../test/identity.js';
import { PasswordQueue } from './users/password-queue.js';

// Tests each authentication endpoint against its row in test/authentication-rows.ts.

const PASSWORD = 'correct horse battery';
/** The format of each type of a response field. */
const FORMATS: Record<string, RegExp> = {
  text: /^/,
  uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  date: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
  jwt: /^[\w-]+\.[\w-]+\.[\w-]+$/,
};

describe.each(AUTHENTICATION)('$row: POST $path', (row) => {
  let identity: TestService;
  let partner: TestPartner;
  /** A body with the data of a new user, which the endpoint accepts. */
  let body: Record<string, string>;
  let headersByCredentials: Readonly<Record<Credentials, Record<string, string>>>;

  beforeAll(async () => {
    identity = await startIdentity();
  });
  afterAll(() => identity.stop());
  beforeEach(async () => {
    partner = await createPartner(identity);
    const token = await logIn(identity, partner);
    const call = partnerClient(identity, partner, token);
    const email = 'ayesha@example.com';
    const { userId } = (await call('POST', '/v1/auth/users', { email, password: PASSWORD })).body;
    // The endpoint that registers customers needs a user who is not registered yet.
    if (row.row !== 'A4') await call('POST', '/v1/auth/customers/register', { userId });
    const customerToken = await logInNewCustomer(call);
    const key = { 'x-api-key': partner.apiKey };
    headersByCredentials = {
      none: {},
      key,
      'key and service token': { ...key, authorization: `Bearer ${token}` },
      'key and customer token': { ...key, authorization: `Bearer ${customerToken}` },
    };
    const fields: Record<string, string> = {
      apiToken: partner.apiToken,
      organisationId: partner.organisationId,
      // The endpoint that creates users needs a new email.
      email: row.row === 'A3' ? 'another@example.com' : email,
      password: PASSWORD,
      userId,
    };
    body = Object.fromEntries(Object.keys(row.required).map((name) => [name, fields[name]!]));
  });

  async function logInNewCustomer(call: ReturnType<typeof partnerClient>): Promise<string> {
    const credentials = { email: 'customer@example.com', password: PASSWORD };
    const { userId } = (await call('POST', '/v1/auth/users', credentials)).body;
    await call('POST', '/v1/auth/customers/register', { userId });
    return (await call('POST', '/v1/auth/customers/login', credentials)).body.identityToken;
  }

  const send = (payload: object, headers = headersByCredentials[row.requiredCredentials]) =>
    httpClient(identity.service, headers)('POST', row.path, payload);
  /** Sends a payload that may not be JSON. */
  const sendRaw = async (
    payload: string,
    type = 'application/json',
    headers = headersByCredentials[row.requiredCredentials],
  ) => {
    const response = await identity.service.app.inject({
      method: 'POST',
      url: row.path,
      headers: { ...headers, 'content-type': type },
      payload,
    });
    return { status: response.statusCode, text: response.body };
  };

  it('responds with exactly the fields of its row, also to a repeated request that it accepts', async () => {
    const response = await send({ ...body, unknown: 'field', more: [{ unknown: 'object' }] });
    expect(response.status).toBe(row.status);
    expect(response.body).toEqual(expectedBody(row.response));
    expect(response.headers['content-type']).toMatch(/^application\/json/);
    expect(response.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    const repeated = await send(body);
    expect(repeated.status).toBe(row.statusOfRepeat);
    const problem = expect.objectContaining({ status: row.statusOfRepeat, title: expect.any(String) });
    expect(repeated.body).toEqual(row.statusOfRepeat < 300 ? expectedBody(row.response) : problem);
    const stored = JSON.stringify(await identity.dataSource.query(`SELECT * FROM users, customers`));
    expect(stored).not.toContain('unknown');
  });

  it('rejects a well-formed request with wrong values, and the response is empty if its status is 401', async () => {
    for (const { changes, status } of row.rejected) {
      const response = await send({ ...body, ...changes });
      expect([changes, response.status]).toEqual([changes, status]);
      const isEmpty = status === 401;
      expect(response.headers['content-type']).toBe(isEmpty ? undefined : 'application/problem+json; charset=utf-8');
      const problem = expect.objectContaining({ status, instance: response.headers['x-request-id'] });
      expect(response.body).toEqual(isEmpty ? undefined : problem);
    }
  });

  it('responds 401 with an empty body to wrong credentials, whether the request body is valid or not', async () => {
    const { key } = headersByCredentials;
    const wrongHeaders: Record<string, string>[] = [
      {},
      { authorization: `Bearer ${partner.apiKey}` },
      { 'x-admin-key': ADMIN_KEY },
      { ...headersByCredentials[row.requiredCredentials], 'x-api-key': `${partner.apiKey}x` },
      { ...headersByCredentials[row.requiredCredentials], 'x-api-key': partner.apiKey.toUpperCase() },
      ...(row.requiredCredentials === 'key'
        ? []
        : [key, { ...key, authorization: 'Bearer x.y.z' }, { ...key, authorization: 'Bearer' }]),
    ];
    for (const headers of wrongHeaders)
      for (const payload of [body, {}]) {
        const response = await send(payload, headers);
        expect([headers, response.status, response.body]).toEqual([headers, 401, undefined]);
      }
    expect(await sendRaw('{"no": ', 'application/json', {})).toEqual({ status: 401, text: '' });
    if (row.requiredCredentials === 'key') return;
    const response = await send({}, headersByCredentials['key and customer token']);
    expect(response).toMatchObject({ status: 403, body: { status: 403 } });
  });

  it('responds with the name of every field that is missing, too long, or of a wrong type', async () => {
    const emptyBody = await send({});
    expect(emptyBody.status).toBe(400);
    expect(emptyBody.headers['content-type']).toContain('application/problem+json');
    expect(emptyBody.body.errors.map(({ field }: { field: string }) => field).toSorted()).toEqual(
      Object.keys(row.required).toSorted(),
    );
    for (const [field, maxLength] of Object.entries({ ...row.required, ...row.optional })) {
      const isOptional = row.optional?.[field] !== undefined;
      const invalidValues = [
        ...NON_TEXT_VALUES.filter((value) => !(isOptional && value === null)),
        'x'.repeat(maxLength + 1),
      ];
      for (const value of invalidValues) {
        const response = await send({ ...body, [field]: value });
        expect([field, value, response.status]).toEqual([field, value, 400]);
        expect(response.body.errors).toEqual([
          { errorReference: '40', field, message: expect.stringContaining(field) },
        ]);
      }
    }
  });

  it('rejects a body that is too large, too deeply nested, or not a JSON object', async () => {
    const large = JSON.stringify({ ...body, more: 'x'.repeat(256 * 1024) });
    expect((await sendRaw(large)).status).toBe(413);
    const nestedTooDeeply = await send({ ...body, more: createNestedObject() });
    const tooDeepMessage = 'The body has too many parts or is nested too deeply.';
    expect(nestedTooDeeply).toMatchObject({ status: 400, body: { detail: tooDeepMessage } });
    for (const payload of ['', '{'])
      expect(await sendRaw(payload)).toEqual({
        status: 400,
        text: expect.stringContaining('The body is not valid JSON.'),
      });
    const notAnObject = expect.stringContaining('The body must be a JSON object.');
    for (const payload of ['[]', 'null', '"text"', '7'])
      expect([payload, await sendRaw(payload)]).toEqual([payload, { status: 400, text: notAnObject }]);
    expect((await sendRaw('apiToken=x', 'application/x-www-form-urlencoded')).status).toBe(415);
    const deepArray = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    expect(await sendRaw(deepArray)).toEqual({ status: 400, text: notAnObject });
  });

  it('responds 404 to other paths, and 405 to other methods', async () => {
    const call = httpClient(identity.service, headersByCredentials[row.requiredCredentials]);
    for (const path of [`${row.path}/x`, `${row.path}/${'x'.repeat(10_000)}`])
      expect((await call('POST', path)).status).toBe(404);
    for (const method of ['GET', 'PATCH'] as const)
      expect(await call(method, row.path)).toMatchObject({ status: 405, headers: { allow: 'POST' } });
  });
});

/** A matcher for a body with exactly these fields. */
function expectedBody(fields: AuthenticationRow['response']): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, type]) => [name, expectedValue(type)]));
}

function expectedValue(type: FieldType): unknown {
  if (typeof type === 'object') return expectedBody(type);
  return type === 'seconds' ? { asymmetricMatch: Number.isSafeInteger } : expect.stringMatching(FORMATS[type]!);
}

describe('a failed customer login (A5)', () => {
  let identity: TestService;
  beforeAll(async () => {
    identity = await startIdentity();
  });
  afterAll(() => identity.stop());

  it('executes the same number of statements and the same password comparison for known and unknown emails', async () => {
    const partner = await createPartner(identity);
    const call = partnerClient(identity, partner, await logIn(identity, partner));
    for (const email of ['customer@example.com', 'user@example.com', 'other@example.com']) {
      const { userId } = (await call('POST', '/v1/auth/users', { email, password: PASSWORD })).body;
      if (email.startsWith('customer')) await call('POST', '/v1/auth/customers/register', { userId });
    }
    const comparisons = jest.spyOn(identity.service.app.get(PasswordQueue), 'matches');
    const statements = jest.spyOn(identity.dataSource, 'createQueryRunner');
    const measureLogin = async (email: string, password: string) => {
      comparisons.mockClear();
      statements.mockClear();
      const { status } = await call('POST', '/v1/auth/customers/login', { email, password });
      // The parts of a hash before the salt are its algorithm and its parameters.
      const parameters = comparisons.mock.calls.map(([, , hash]) => hash.split('$').slice(0, 4).join('$'));
      return { status, parameters, statements: statements.mock.calls.length };
    };
    const costs = [];
    for (const [email, password] of [
      ['customer@example.com', 'wrong password'],
      ['user@example.com', PASSWORD],
      ['other@example.com', 'wrong password'],
      ['nobody@example.com', PASSWORD],
      ['no address', 'wrong password'],
    ] as const) {
      // Periodic jobs of the service may execute statements during a login. The cheapest of three logins is a login
      // during which no job ran.
      const measurements = [
        await measureLogin(email, password),
        await measureLogin(email, password),
        await measureLogin(email, password),
      ];
      costs.push(measurements.reduce((cheapest, cost) => (cost.statements < cheapest.statements ? cost : cheapest)));
    }
    const [first] = costs;
    expect(first).toMatchObject({ status: 401, parameters: ['$argon2id$v=19$m=19456,t=2,p=1'] });
    expect(first!.statements).toBeGreaterThan(0);
    for (const cost of costs) expect(cost).toEqual(first);
  });
});

test('a path parameter above 200 characters causes a 400, and a shorter parameter that is not an id causes a 404', async () => {
  const identity = await startIdentity();
  const admin = httpClient(identity.service, { 'x-admin-key': ADMIN_KEY });
  const requestStatus = async (id: string) => (await admin('GET', `/admin/v1/organisations/${id}`)).status;
  for (const id of ['x', '%00', '..', 'x'.repeat(200)]) expect([id, await requestStatus(id)]).toEqual([id, 404]);
  for (const length of [201, 5_000]) expect([length, await requestStatus('x'.repeat(length))]).toEqual([length, 400]);
  await identity.stop();
});
