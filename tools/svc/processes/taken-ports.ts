import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { readCommandLine } from '../base/process-identity.ts';
import { SvcError } from '../base/svc-error.ts';

const LOOPBACK = '127.0.0.1';

/** Refuses to go on when somebody listens on one of these ports: said before anything is started. */
export async function requireFreePorts(ports: Readonly<Record<string, number>>, host = LOOPBACK): Promise<void> {
  for (const [use, port] of Object.entries(ports)) {
    if (!(await isTaken(host, port))) continue;
    const holder = findHolder(port);
    const who =
      holder === undefined
        ? 'another process'
        : `process ${holder} (${readCommandLine(holder).join(' ').slice(0, 80)})`;
    throw new SvcError(`port ${port} for ${use} (${host}:${port}) is taken by ${who}`, {
      hint: 'stop it, or choose other ports with SVC_PORT_BASE, for example SVC_PORT_BASE=8300 ./svc up',
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
  return (await answers(host, port)) || !(await canBind(host, port));
}

function answers(host: string, port: number): Promise<boolean> {
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

/** The process that listens on a port, where this user may see it. */
function findHolder(port: number): number | undefined {
  try {
    return process.platform === 'linux' ? findHolderInProc(port) : findHolderByLsof(port);
  } catch {
    return undefined; // Only a kindness to the reader: without it the line still names port and address.
  }
}

function findHolderInProc(port: number): number | undefined {
  const socket = ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((table) => listenersIn(table, port)).at(0);
  if (socket === undefined) return undefined;
  const pids = readdirSync('/proc').filter((entry) => /^\d+$/.test(entry));
  const pid = pids.find((candidate) => holdsSocket(candidate, socket));
  return pid === undefined ? undefined : Number(pid);
}

function listenersIn(table: string, port: number): string[] {
  const wanted = port.toString(16).toUpperCase().padStart(4, '0');
  const listening = '0A';
  return readFileSync(table, 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter((columns) => columns[1]?.endsWith(`:${wanted}`) === true && columns[3] === listening)
    .flatMap((columns) => (columns[9] === undefined ? [] : [columns[9]]));
}

function holdsSocket(pid: string, inode: string): boolean {
  try {
    const handles = readdirSync(`/proc/${pid}/fd`);
    return handles.some((handle) => readlinkSync(`/proc/${pid}/fd/${handle}`) === `socket:[${inode}]`);
  } catch {
    return false; // Somebody else's process, or one that has just ended.
  }
}

function findHolderByLsof(port: number): number | undefined {
  const output = execFileSync('lsof', ['-nP', `-iTCP:${port}`, '-sTCP:LISTEN', '-t'], { encoding: 'utf8' });
  const pid = Number(output.trim().split('\n')[0]);
  return Number.isInteger(pid) && pid > 0 ? pid : undefined;
}
