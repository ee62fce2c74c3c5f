import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { SvcError } from '../base/svc-error.ts';

const LOOPBACK = '127.0.0.1';
/**
 * Below the range from which systems choose ports for outgoing connections and for port 0: another process could get
 * such a port before the caller listens on it.
 */
const FREE_PORTS = { first: 15_000, last: 19_999 };
const ATTEMPTS_MAX = 50;

/** @throws SvcError when another program listens on one of these ports */
export async function requireFreePorts(ports: Readonly<Record<string, number>>, host = LOOPBACK): Promise<void> {
  for (const [use, port] of Object.entries(ports)) {
    // Binding alone is not enough: on some systems it succeeds although another program listens on all interfaces.
    if (!(await isListening(host, port)) && (await canBind(host, port))) continue;
    throw new SvcError(`port ${port} for ${use} (${host}:${port}) is in use by another process`, {
      hint: `stop it (find it with lsof -i :${port}), or choose other ports with SVC_PORT_BASE, for example SVC_PORT_BASE=8300 ./svc up`,
    });
  }
}

/** A port of the loopback interface that is free at this moment. */
export async function findFreePort(): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const port = randomInt(FREE_PORTS.first, FREE_PORTS.last + 1);
    if (await canBind(LOOPBACK, port)) return port;
  }
  throw new SvcError(`none of ${ATTEMPTS_MAX} ports from ${FREE_PORTS.first} to ${FREE_PORTS.last} is free`);
}

/** Whether a program accepts connections at this address. */
export async function isListening(host: string, port: number): Promise<boolean> {
  const socket = connect({ host, port });
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(1000) });
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** Listens for a moment. */
async function canBind(host: string, port: number): Promise<boolean> {
  const server = createServer().listen(port, host);
  try {
    await once(server, 'listening');
    await once(server.close(), 'close');
    return true;
  } catch {
    return false;
  }
}
