import { once } from 'node:events';
import { createServer } from 'node:net';
import { findFreePort } from './free-port.js';

test('two callers never get the same port, although neither has begun to listen', async () => {
  const ports = await Promise.all(Array.from({ length: 200 }, findFreePort));
  expect(new Set(ports).size).toBe(200);
});

test('a program can listen on the port', async () => {
  const port = await findFreePort();
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  expect(server.address()).toMatchObject({ port });
  await once(server.close(), 'close');
});
