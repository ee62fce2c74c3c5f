import { fastify } from 'fastify';
import { newLog } from '../logging.js';
import { httpSettings } from './http.js';

async function readClientAddress(trustedProxies: string | undefined, forwardedFor: string): Promise<string> {
  const app = fastify(httpSettings.options({}, newLog('test', 'silent'), trustedProxies));
  app.get('/', (request) => Promise.resolve({ ip: request.ip }));
  const { body } = await app.inject({ method: 'GET', url: '/', headers: { 'x-forwarded-for': forwardedFor } });
  await app.close();
  return (JSON.parse(body) as { ip: string }).ip;
}

test('without a trusted proxy, the client address is the address of the connection, and the header is ignored', async () => {
  expect(await readClientAddress(undefined, '203.0.113.7')).toBe('127.0.0.1');
  expect(await readClientAddress('10.0.0.0/8', '203.0.113.7')).toBe('127.0.0.1');
});

test('the client address is the entry that the first trusted proxy added, and earlier entries of the header are ignored', async () => {
  expect(await readClientAddress('127.0.0.1', '203.0.113.7')).toBe('203.0.113.7');
  expect(await readClientAddress('127.0.0.1,10.0.0.0/8', '192.0.2.1, 203.0.113.7, 10.1.2.3')).toBe('203.0.113.7');
});
