import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { SvcError } from '../base/svc-error.ts';

const LOOPBACK = '127.0.0.1';

/** @throws SvcError when another program listens on one of these ports */
export async function requireFreePorts(ports: Readonly<Record<string, number>>, host = LOOPBACK): Promise<void> {
  for (const [use, port] of Object.entries(ports)) {
    // Binding alone is not enough: on some systems it succeeds although another program listens on all interfaces.
    if (!(await isListening(host, port)) && (await bindPort(host, port).catch(() => undefined))) continue;
    throw new SvcError(`port ${port} for ${use} (${host}:${port}) is in use by another process`, {
      hint: `stop it (find it with lsof -i :${port}), or choose other ports with SVC_PORT_BASE, for example SVC_PORT_BASE=8300 ./svc up`,
    });
  }
}

/** A port of the loopback interface that is free at this moment. */
export async function findFreePort(): Promise<number> {
  return bindPort(LOOPBACK, 0);
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

/** Listens for a moment. Returns the port, which the system chooses for 0. */
async function bindPort(host: string, port: number): Promise<number> {
  const server = createServer().listen(port, host);
  await once(server, 'listening');
  const address = server.address() as AddressInfo;
  await once(server.close(), 'close');
  return address.port;
}
