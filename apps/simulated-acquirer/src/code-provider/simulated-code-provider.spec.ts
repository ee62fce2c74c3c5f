import { fastify, type FastifyInstance } from 'fastify';
import { serveCodeProvider } from './simulated-code-provider.js';

let app: FastifyInstance;
beforeEach(() => {
  app = fastify();
  serveCodeProvider(app);
});
afterEach(() => app.close());

const get = (code: string, key = 'simulated-code-provider') =>
  app.inject({
    url: `/code-provider/codes/${Buffer.from(code).toString('base64url')}`,
    headers: { authorization: `Bearer ${key}` },
  });

test.each([
  ['https://pay.simulated-provider.example/25000', 25_000, 'open'],
  ['https://pay.simulated-provider.example/closed-70', 70, 'closed'],
  ['SIMPAY:125', 125, 'open'],
])('%s is an invoice of %i cents, %s', async (code, amount, state) => {
  const response = await get(code);
  expect([response.statusCode, response.json()]).toMatchObject([200, { invoice: { amount, state } }]);
});

test.each([
  'https://pay.simulated-provider.example/0',
  'https://elsewhere.example/1',
  'SIMPAY:',
  '100',
  'x'.repeat(2_048),
])('%s is unknown', async (code) => expect((await get(code)).statusCode).toBe(404));

test('an expired code is gone', async () => {
  expect((await get('https://pay.simulated-provider.example/expired')).statusCode).toBe(410);
});

test('a broken response is not JSON', async () => {
  const { body } = await get('https://pay.simulated-provider.example/broken');
  expect(() => JSON.parse(body) as unknown).toThrow(SyntaxError);
});

test('another key is refused', async () => {
  expect((await get('SIMPAY:125')).statusCode).toBe(200);
  expect((await get('SIMPAY:125', 'another')).statusCode).toBe(401);
});
