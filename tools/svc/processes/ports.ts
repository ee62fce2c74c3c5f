import { connect, createServer } from 'node:net';
import { SvcError } from '../base/svc-error.ts';

const LOOPBACK = '127.0.0.1';

/** Refuses to go on when another program listens on one of these ports, before anything is started. */
export async function requireFreePorts(ports: Readonly<Record<string, number>>, host = LOOPBACK): Promise<void> {
  for (const [use, port] of Object.entries(ports)) {
    if (!(await isTaken(host, port))) continue;
    throw new SvcError(`port ${port} for ${use} (${host}:${port}) is taken by another process`, {
      hint: `stop it (lsof -i :${port} names it), or choose other ports with SVC_PORT_BASE, for example SVC_PORT_BASE=8300 ./svc up`,
    });
  }
}

/** A port of the loopback interface that is free at this moment. */
export async function findFreePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, LOOPBACK, resolve);
  });
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('the probe has no port');
  return address.port;
}

/** Binding alone is not proof: beside a listener on all interfaces, some systems let a loopback one bind. */
async function isTaken(host: string, port: number): Promise<boolean> {
  return (await isAnswering(host, port)) || !(await canBind(host, port));
}

/** Whether a program accepts connections there. */
export function isAnswering(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 1000 });
    const finish = (answered: boolean) => {
      socket.destroy();
      resolve(answered);
    };
    socket.once('connect', () => finish(true));
    socket.once('timeout', () => finish(false));
    socket.once('error', () => finish(false));
  });
}

function canBind(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
}
