import type { FastifyRequest } from 'fastify';
import { isLocalRequest } from './control-guard.js';

const request = (ip: string, host: string | undefined, origin?: string) =>
  ({ ip, headers: { host, origin } }) as unknown as FastifyRequest;

test.each([
  ['127.0.0.1', '127.0.0.1:7000', undefined, true],
  ['127.8.9.10', 'localhost', undefined, true],
  ['::1', '[::1]:7000', undefined, true],
  ['::ffff:127.0.0.1', 'localhost:7000', 'http://localhost:7000', true],
  ['10.0.0.7', '127.0.0.1:7000', undefined, false],
  ['::ffff:10.0.0.7', 'localhost', undefined, false],
  ['127.0.0.1', 'evil.example', undefined, false],
  ['127.0.0.1', 'localhost.evil.example', undefined, false],
  ['127.0.0.1', undefined, undefined, false],
  ['127.0.0.1', 'localhost:7000', 'http://localhost:7001', false],
  ['127.0.0.1', 'localhost:7000', 'null', false],
])('a request of %s for %s from %s: %s', (ip, host, origin, expected) => {
  expect(isLocalRequest(request(ip, host, origin))).toBe(expected);
});
