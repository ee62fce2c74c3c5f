import { PartnerClient } from '../index.js';

const LOGGED_IN = { id: 'c-1', firstName: 'Thandi', lastName: 'Nkosi' };
const REGISTERED = { customerReference: 'c-1', userId: 'u-1', createdUTCDate: '2026-11-20T18:03:36.123Z' };
const USER = { email: 'a@b.example', password: 'password', firstName: 'Thandi' };
const DETAILS = {
  ...{ reference: 'r-1', paymentReference: 'P/1', merchantName: 'Karoo Books', paymentMethodLabel: '**** 4242' },
  ...{ currencyISOCode: 'ZAR', invoicedAmount: 3, amount: 2, tipAmount: 1, processedAmount: 4, status: 1 },
  ...{ modifiedUTCDate: '2026-11-20T18:03:36.123Z', errors: null },
};

interface SentRequest {
  readonly route: string;
  readonly body: unknown;
  readonly authorization: string | null;
}

let sent: SentRequest[];
let responses: Record<string, () => Response>;
beforeEach(() => {
  sent = [];
  responses = {
    'POST /v1/auth/service/login': () => Response.json({ identityToken: 'service', expiresIn: 900 }),
    'POST /v1/auth/customers/login': () =>
      Response.json({ identityToken: 'customer', expiresIn: 900, customer: LOGGED_IN }),
    'POST /v1/auth/users': () => Response.json({ userId: 'u-1' }, { status: 201 }),
    'POST /v1/auth/customers/register': () => Response.json({ ...REGISTERED, organisationId: 'o' }),
    'GET /v1/payments/P%2F1': () => Response.json(DETAILS),
  };
});

function createClient(): PartnerClient {
  const fetch = (url: unknown, init: RequestInit = {}): Promise<Response> => {
    const route = `${init.method} ${new URL(url as string).pathname}`;
    const body: unknown = typeof init.body === 'string' ? JSON.parse(init.body) : undefined;
    sent.push({ route, body, authorization: new Headers(init.headers).get('authorization') });
    return Promise.resolve(responses[route]!());
  };
  const options = { apiUrl: 'https://api.example', apiKey: 'k', organisationId: 'o', apiToken: 't' };
  return new PartnerClient({ ...options, fetch: fetch, wait: async () => undefined });
}
const malformed = (field: string) => ({
  errors: [{ message: `The response cannot be read: ${field} is missing or malformed` }],
});

test('a customer’s explicit login returns the token and the customer, and sends only email and password', async () => {
  expect(await createClient().logInCustomer(USER)).toEqual({
    ...{ identityToken: 'customer', expiresIn: 900, customer: LOGGED_IN },
  });
  const { email, password } = USER;
  expect(sent).toEqual([
    { route: 'POST /v1/auth/service/login', body: { organisationId: 'o', apiToken: 't' }, authorization: null },
    { route: 'POST /v1/auth/customers/login', body: { email, password }, authorization: 'Bearer service' },
  ]);
});

test('a wrong password is sent once, because it counts towards the limit of the email', async () => {
  responses['POST /v1/auth/customers/login'] = () => new Response(null, { status: 401 });
  await expect(createClient().logInCustomer(USER)).rejects.toMatchObject({ httpStatus: 401 });
  expect(sent.map(({ route }) => route)).toEqual(['POST /v1/auth/service/login', 'POST /v1/auth/customers/login']);
});

test.each([
  ['expiresIn', { identityToken: 't', expiresIn: 0, customer: LOGGED_IN }],
  ['identityToken', { expiresIn: 900, customer: LOGGED_IN }],
  ['customer', { identityToken: 't', expiresIn: 900 }],
  ['firstName', { identityToken: 't', expiresIn: 900, customer: { id: 'c-1' } }],
])('a login without a valid %s is refused', async (field, body) => {
  responses['POST /v1/auth/customers/login'] = () => Response.json(body);
  await expect(createClient().logInCustomer(USER)).rejects.toMatchObject(malformed(field));
});

test('the service creates a user, and registers it as a customer, with one login', async () => {
  const { service } = createClient();
  expect(await service.createUser(USER)).toEqual({ userId: 'u-1' });
  expect(await service.registerCustomer('u-1')).toEqual(REGISTERED);
  expect(sent.slice(1)).toEqual([
    { route: 'POST /v1/auth/users', body: USER, authorization: 'Bearer service' },
    { route: 'POST /v1/auth/customers/register', body: { userId: 'u-1' }, authorization: 'Bearer service' },
  ]);
});

test.each(['customerReference', 'userId', 'createdUTCDate'])('a registration without %s is refused', async (field) => {
  responses['POST /v1/auth/customers/register'] = () => Response.json({ ...REGISTERED, [field]: undefined });
  await expect(createClient().service.registerCustomer('u-1')).rejects.toMatchObject(malformed(field));
});

test('a response to a new user without userId is refused', async () => {
  responses['POST /v1/auth/users'] = () => Response.json({}, { status: 201 });
  await expect(createClient().service.createUser(USER)).rejects.toMatchObject(malformed('userId'));
});

test.each([
  [1, 'success'],
  [2, 'failed'],
  [3, 'verificationRequired'],
  [4, 'processing'],
])('one payment with the status %d is returned as %s', async (status, text) => {
  responses['GET /v1/payments/P%2F1'] = () => Response.json({ ...DETAILS, status });
  expect(await createClient().service.payment('P/1')).toEqual({ ...DETAILS, status: text, errors: [] });
});

test.each([...Object.keys(DETAILS).filter((field) => field !== 'errors')])(
  'one payment without a valid %s is refused',
  async (field) => {
    for (const value of [undefined, true, -1, 5e12]) {
      responses['GET /v1/payments/P%2F1'] = () => Response.json({ ...DETAILS, [field]: value });
      await expect(createClient().service.payment('P/1')).rejects.toMatchObject(malformed(field));
    }
  },
);

test.each([0, 5, 'success'])('one payment with the unknown status %j is refused', async (status) => {
  responses['GET /v1/payments/P%2F1'] = () => Response.json({ ...DETAILS, status });
  await expect(createClient().service.payment('P/1')).rejects.toMatchObject(malformed('status'));
});
