import { fastify, type FastifyInstance } from 'fastify';
import { serveCodeProvider } from './simulated-code-provider.js';

/** Members of a JSON object, most of them texts. */
type Texts = Readonly<Record<string, unknown>>;

let app: FastifyInstance;
beforeEach(() => {
  app = fastify();
  serveCodeProvider(app);
});
afterEach(() => app.close());

const decodeCode = (code: string, key = 'simulated-code-provider') =>
  app.inject({
    url: `/code-provider/codes/${Buffer.from(code).toString('base64url')}`,
    headers: { authorization: `Bearer ${key}` },
  });

test.each([
  ['https://pay.simulated-provider.example/25000', 25_000, 'open'],
  ['https://pay.simulated-provider.example/closed-70', 70, 'closed'],
  ['SIMPAY:125', 125, 'open'],
])('the code %s returns an invoice of %i cents that is %s', async (code, amount, state) => {
  const response = await decodeCode(code);
  expect([response.statusCode, response.json()]).toMatchObject([200, { invoice: { amount, state } }]);
});

test('the invoice has one line with its whole amount, and a reference that contains the amount', async () => {
  const { invoice } = (await decodeCode('SIMPAY:125')).json<{ invoice: object }>();
  expect(invoice).toMatchObject({ originReference: 'pump-125', lineItems: [{ unitPrice: '125', quantity: 1 }] });
});

test('the response has every member that a provider must send, with a valid value (D4)', async () => {
  const { merchant, invoice } = (await decodeCode('SIMPAY:125')).json<Record<'merchant' | 'invoice', Texts>>();
  const { features, ...merchantTexts } = merchant as Texts & { features: object };
  const { amount, lineItems, createdUTCDate, ...invoiceTexts } = invoice as Texts & { lineItems: object[] };
  const { unitPrice, quantity, ...lineTexts } = lineItems[0] as Texts;
  expect([amount, unitPrice, quantity]).toEqual([125, '125', 1]);
  expect(features).toEqual({ tip: { enabled: expect.any(Boolean) } });
  expect(new Date(String(createdUTCDate)).toISOString()).toBe(createdUTCDate);
  for (const texts of [merchantTexts, invoiceTexts, lineTexts])
    for (const text of Object.values(texts)) expect(text).toMatch(/^\S.*$/);
  for (const { currencyISOCode } of [merchant, invoice]) expect(currencyISOCode).toMatch(/^[A-Z]{3}$/);
  expect(['open', 'closed']).toContain(invoice.state);
});

test('the simulated merchant accepts tips, so that partners can try the payment of a tip', async () => {
  expect((await decodeCode('SIMPAY:125')).json()).toMatchObject({ merchant: { features: { tip: { enabled: true } } } });
});

test.each([
  'https://pay.simulated-provider.example/0',
  'https://pay.simulated-provider.example/open-1',
  'SIMPAY:1x',
  'https://elsewhere.example/1',
  'SIMPAY:',
  '100',
  'x'.repeat(2_048),
])('the unknown code %s gets a 404', async (code) => expect((await decodeCode(code)).statusCode).toBe(404));

test('an expired code gets a 410', async () => {
  expect((await decodeCode('https://pay.simulated-provider.example/expired')).statusCode).toBe(410);
});

test('the code …/broken gets a response that is called JSON, but is not', async () => {
  const { body, headers } = await decodeCode('https://pay.simulated-provider.example/broken');
  expect([headers['content-type'], body]).toEqual([expect.stringContaining('application/json'), '{"merchant":']);
  expect(() => JSON.parse(body) as unknown).toThrow(SyntaxError);
});

test('the code …/silent gets no response, although later requests get one', async () => {
  let hasResponse = false;
  void decodeCode('https://pay.simulated-provider.example/silent').then(() => {
    hasResponse = true;
  });
  for (const code of ['SIMPAY:1', 'SIMPAY:2']) expect((await decodeCode(code)).statusCode).toBe(200);
  expect(hasResponse).toBe(false);
});

test('a request with another API key gets a 401', async () => {
  expect((await decodeCode('SIMPAY:125')).statusCode).toBe(200);
  expect((await decodeCode('SIMPAY:125', 'another')).statusCode).toBe(401);
});
