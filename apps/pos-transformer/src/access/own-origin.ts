import { isIPv6, type Socket } from 'node:net';

/** The part of a request from which the URL of this program is made. */
interface OriginRequest {
  readonly protocol: string;
  readonly host: string | undefined;
  readonly socket: Pick<Socket, 'localAddress' | 'localPort'>;
}

/**
 * The URL at which a till reaches this program. A till that uses HTTP/1.0 sends no Host header. Then the URL contains
 * the address at which the request arrived.
 */
export function ownOrigin({ protocol, host, socket }: OriginRequest): string {
  if (host) return `${protocol}://${host}`;
  // An IPv4 connection to an IPv6 socket has an address such as `::ffff:192.168.1.10`.
  const address = (socket.localAddress ?? '').replace(/^::ffff:(?=[\d.]+$)/, '');
  return `${protocol}://${isIPv6(address) ? `[${address}]` : address}:${socket.localPort}`;
}
