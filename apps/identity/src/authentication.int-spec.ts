import { httpClient, type TestService } from '@svc/testing';
import {
  AUTHENTICATION,
  type AuthenticationRow,
  type Credentials,
  type FieldType,
  nested,
  NO_TEXT,
} from '../test/authentication-rows.js';
import { ADMIN_KEY, aPartner, clientOf, logIn, startIdentity, type TestPartner } from '../test/identity.js';
import { PasswordQueue } from './users/password-queue.js';

// Tests the Authentication endpoints against the list in test/authentication-rows.ts.

// Each password costs 40 ms of a processor, more on a busy machine.
const PASSWORD = 'correct horse battery';
const SHAPES: Record<string, RegExp> = {
  text: /^/,
  uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  date: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
  jwt: /^[\w-]+\.[\w-]+\.[\w-]+$/,
};

describe.each(AUTHENTICATION)('$row: POST $path', (row) => {
  let identity: TestService;
  let partner: TestPartner;
  /** A body that is let through, of a user of this test's own. */
  let body: Record<string, string>;
  let headersOf: Readonly<Record<Credentials, Record<string, string>>>;

  beforeAll(async () => {
    identity = await startIdentity();
  });
  afterAll(() => identity.stop());
  beforeEach(async () => {
    partner = await aPartner(identity);
    const token = await logIn(identity, partner);
    const call = clientOf(identity, partner, token);
    const email = 'ayesha@example.com';
    const { userId } = (await call('POST', '/v1/auth/users', { email, password: PASSWORD })).body;
    if (row.row !== 'A4') await call('POST', '/v1/auth/customers/register', { userId });
    const customerToken = await customerTokenOf(call);
    const key = { 'x-api-key': partner.apiKey };
    headersOf = {
      none: {},
      key,
      'key and service token': { ...key, authorization: `Bearer ${token}` },
      'key and customer token': { ...key, authorization: `Bearer ${customerToken}` },
    };
    const fields: Record<string, string> = {
      apiToken: partner.apiToken,
      organisationId: partner.organisationId,
      email: row.row === 'A3' ? 'another@example.com' : email,
      password: PASSWORD,
      userId,
    };
    body = Object.fromEntries(Object.keys(row.required).map((name) => [name, fields[name]!]));
  });

  async function customerTokenOf(call: ReturnType<typeof clientOf>): Promise<string> {
    const credentials = { email: 'customer@example.com', password: PASSWORD };
    const { userId } = (await call('POST', '/v1/auth/users', credentials)).body;
    await call('POST', '/v1/auth/customers/register', { userId });
    return (await call('POST', '/v1/auth/customers/login', credentials)).body.identityToken;
  }

  const send = (payload: object, headers = headersOf[row.needs]) =>
    httpClient(identity.service, headers)('POST', row.path, payload);
  const raw = async (payload: string, type = 'application/json', headers = headersOf[row.needs]) => {
    const answer = await identity.service.app.inject({
      method: 'POST',
      url: row.path,
      headers: { ...headers, 'content-type': type },
      payload,
    });
    return { status: answer.statusCode, text: answer.body };
  };

  it('responds with exactly these fields, and repeats the response for a repeated request', async () => {
    const answer = await send({ ...body, unknown: 'field', more: [{ of: 'them' }] });
    expect(answer.status).toBe(row.status);
    expect(answer.body).toEqual(shapeOf(row.answer));
    expect(answer.headers['content-type']).toMatch(/^application\/json/);
    expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    const again = await send(body);
    expect(again.status).toBe(row.again);
    const refusal = expect.objectContaining({ status: row.again, title: expect.any(String) });
    expect(again.body).toEqual(row.again < 300 ? shapeOf(row.answer) : refusal);
    const stored = JSON.stringify(await identity.dataSource.query(`SELECT * FROM users, customers`));
    expect(stored).not.toContain('unknown');
  });

  it('rejects well-formed but wrong input; a 401 has no body', async () => {
    for (const { with: changes, status } of row.refused) {
      const answer = await send({ ...body, ...changes });
      expect([changes, answer.status]).toEqual([changes, status]);
      const isEmpty = status === 401;
      expect(answer.headers['content-type']).toBe(isEmpty ? undefined : 'application/problem+json; charset=utf-8');
      const problem = expect.objectContaining({ status, instance: answer.headers['x-request-id'] });
      expect(answer.body).toEqual(isEmpty ? undefined : problem);
    }
  });

  it('checks the credentials before the body; a 401 has no body', async () => {
    const { key } = headersOf;
    const tooLittle: Record<string, string>[] = [
      {},
      { authorization: `Bearer ${partner.apiKey}` },
      { 'x-admin-key': ADMIN_KEY },
      { ...headersOf[row.needs], 'x-api-key': `${partner.apiKey}x` },
      { ...headersOf[row.needs], 'x-api-key': partner.apiKey.toUpperCase() },
      ...(row.needs === 'key'
        ? []
        : [key, { ...key, authorization: 'Bearer x.y.z' }, { ...key, authorization: 'Bearer' }]),
    ];
    for (const headers of tooLittle)
      for (const payload of [body, {}]) {
        const answer = await send(payload, headers);
        expect([headers, answer.status, answer.body]).toEqual([headers, 401, undefined]);
      }
    expect(await raw('{"no": ', 'application/json', {})).toEqual({ status: 401, text: '' });
    if (row.needs === 'key') return;
    const answer = await send({}, headersOf['key and customer token']);
    expect(answer).toMatchObject({ status: 403, body: { status: 403 } });
  });

  it('names every required field that is missing, of another type, or too long', async () => {
    const nothing = await send({});
    expect(nothing.status).toBe(400);
    expect(nothing.headers['content-type']).toContain('application/problem+json');
    expect(nothing.body.errors.map(({ field }: { field: string }) => field).toSorted()).toEqual(
      Object.keys(row.required).toSorted(),
    );
    for (const [field, longest] of Object.entries({ ...row.required, ...row.optional })) {
      const isOptional = row.optional?.[field] !== undefined;
      const wrong = [...NO_TEXT.filter((value) => !(isOptional && value === null)), 'x'.repeat(longest + 1)];
      for (const value of wrong) {
        const answer = await send({ ...body, [field]: value });
        expect([field, value, answer.status]).toEqual([field, value, 400]);
        expect(answer.body.errors).toEqual([{ errorReference: '40', field, message: expect.stringContaining(field) }]);
      }
    }
  });

  it('limits size and depth, and accepts only JSON objects', async () => {
    const large = JSON.stringify({ ...body, more: 'x'.repeat(256 * 1024) });
    expect((await raw(large)).status).toBe(413);
    const nestedTooDeeply = await send({ ...body, more: nested() });
    const tooMuch = 'The body has too many parts or is nested too deeply.';
    expect(nestedTooDeeply).toMatchObject({ status: 400, body: { detail: tooMuch } });
    for (const payload of ['', '{'])
      expect(await raw(payload)).toEqual({ status: 400, text: expect.stringContaining('The body is not valid JSON.') });
    const noObject = expect.stringContaining('The body must be a JSON object.');
    for (const payload of ['[]', 'null', '"text"', '7'])
      expect([payload, await raw(payload)]).toEqual([payload, { status: 400, text: noObject }]);
    expect((await raw('apiToken=x', 'application/x-www-form-urlencoded')).status).toBe(415);
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    expect(await raw(deep)).toEqual({ status: 400, text: noObject });
  });

  it('has no other method and no other path', async () => {
    const others = [
      ['GET', row.path],
      ['PATCH', row.path],
      ['POST', `${row.path}/x`],
      ['POST', `${row.path}/${'x'.repeat(10_000)}`],
    ] as const;
    for (const [method, path] of others)
      expect((await httpClient(identity.service, headersOf[row.needs])(method, path)).status).toBe(404);
  });
});

/** A matcher for a response with exactly these fields. */
function shapeOf(fields: AuthenticationRow['answer']): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, type]) => [name, shapeOfField(type)]));
}

function shapeOfField(type: FieldType): unknown {
  if (typeof type === 'object') return shapeOf(type);
  return type === 'seconds' ? { asymmetricMatch: Number.isSafeInteger } : expect.stringMatching(SHAPES[type]!);
}

describe('A5: known and unknown emails', () => {
  let identity: TestService;
  beforeAll(async () => {
    identity = await startIdentity();
  });
  afterAll(() => identity.stop());

  it('need the same time: as many statements, and one password comparison with the same parameters', async () => {
    const partner = await aPartner(identity);
    const call = clientOf(identity, partner, await logIn(identity, partner));
    for (const email of ['customer@example.com', 'user@example.com', 'other@example.com']) {
      const { userId } = (await call('POST', '/v1/auth/users', { email, password: PASSWORD })).body;
      if (email.startsWith('customer')) await call('POST', '/v1/auth/customers/register', { userId });
    }
    const compared = jest.spyOn(identity.service.app.get(PasswordQueue), 'matches');
    const statements = jest.spyOn(identity.dataSource, 'createQueryRunner');
    const costOf = async (email: string, password: string) => {
      compared.mockClear();
      statements.mockClear();
      const { status } = await call('POST', '/v1/auth/customers/login', { email, password });
      const parameters = compared.mock.calls.map(([, , hash]) => hash.split('$').slice(0, 4).join('$'));
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
      // The service's own jobs may make a statement meanwhile; they make none in the cheapest of three logins.
      const tries = [await costOf(email, password), await costOf(email, password), await costOf(email, password)];
      costs.push(tries.reduce((cheapest, cost) => (cost.statements < cheapest.statements ? cost : cheapest)));
    }
    const [first] = costs;
    expect(first).toMatchObject({ status: 401, parameters: ['$argon2id$v=19$m=19456,t=2,p=1'] });
    expect(first!.statements).toBeGreaterThan(0);
    for (const cost of costs) expect(cost).toEqual(first);
  });
});

test('a path parameter has a maximum length, and a value that cannot be an id is a 404', async () => {
  const identity = await startIdentity();
  const admin = httpClient(identity.service, { 'x-admin-key': ADMIN_KEY });
  const statusOf = async (id: string) => (await admin('GET', `/admin/v1/organisations/${id}`)).status;
  for (const id of ['x', '%00', '..', 'x'.repeat(200)]) expect([id, await statusOf(id)]).toEqual([id, 404]);
  for (const length of [201, 5_000]) expect([length, await statusOf('x'.repeat(length))]).toEqual([length, 400]);
  await identity.stop();
});
