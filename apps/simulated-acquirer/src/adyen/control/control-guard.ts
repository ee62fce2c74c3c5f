import type { FastifyRequest } from 'fastify';

const LOOPBACK_HOSTS = /^(localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])(:\d{1,5})?$/;
const LOOPBACK_PEERS = /^(::ffff:)?127\.|^::1$/;

/**
 * Whether the control interface accepts this request: from this machine only, under a name of this machine, and not from
 * a page of another origin in a browser on this machine.
 */
export function isLocalRequest({ ip, headers: { host = '', origin } }: FastifyRequest): boolean {
  if (!LOOPBACK_PEERS.test(ip) || !LOOPBACK_HOSTS.test(host)) return false;
  return origin === undefined || origin === `http://${host}`;
}
