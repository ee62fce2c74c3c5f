import { fastify, type FastifyInstance } from 'fastify';
import { serveCodeProvider } from './simulated-code-provider.js';

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

test.each([
  'https://pay.simulated-provider.example/0',
  'https://elsewhere.example/1',
  'SIMPAY:',
  '100',
  'x'.repeat(2_048),
])('the unknown code %s gets a 404', async (code) => expect((await decodeCode(code)).statusCode).toBe(404));

test('an expired code gets a 410', async () => {
  expect((await decodeCode('https://pay.simulated-provider.example/expired')).statusCode).toBe(410);
});

test('the code …/broken gets a response that is not JSON', async () => {
  const { body } = await decodeCode('https://pay.simulated-provider.example/broken');
  expect(() => JSON.parse(body) as unknown).toThrow(SyntaxError);
});

test('a request with another API key gets a 401', async () => {
  expect((await decodeCode('SIMPAY:125')).statusCode).toBe(200);
  expect((await decodeCode('SIMPAY:125', 'another')).statusCode).toBe(401);
});
