/** The broker of one directory: found by the file its start wrote, and stopped. Needs nothing that is installed. */
import { rmSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { readJson } from '../base/files.ts';
import { findIdentity, isAlive } from '../base/process-identity.ts';
import { isContainerRunning, stopContainer } from './rabbitmq-container.ts';
import { SvcError } from '../base/svc-error.ts';
import { waitUntil } from '../base/wait-until.ts';

/** What a start leaves in `broker.json`. */
export interface BrokerFile {
  readonly port: number;
  /** A process of this machine, or a container's name. */
  readonly process?: OwnProcess;
  readonly container?: string;
  readonly epmd?: { readonly port: number; readonly process: OwnProcess };
}

interface OwnProcess {
  readonly pid: number;
  readonly identity: string;
}

export interface RunningRabbitMq {
  /** Undefined in a container. */
  readonly pid: number | undefined;
  readonly container: string | undefined;
  readonly port: number;
}

/** Quorum queues are written out and leaders handed over; a broker with nothing to do takes about two seconds. */
const STOP_SECONDS = 30;
const KILL_SECONDS = 10;

export function brokerFileOf(directory: string): string {
  return join(directory, 'broker.json');
}

/** A process as it is kept in a file; undefined when it has already ended. */
export function asOwnProcess(pid: number | undefined): OwnProcess | undefined {
  const identity = pid === undefined ? undefined : findIdentity(pid);
  return pid === undefined || identity === undefined ? undefined : { pid, identity };
}

/** Undefined also when the file names a process that is gone, or whose number somebody else has by now. */
export function findRabbitMq(directory: string): RunningRabbitMq | undefined {
  const known = readJson(brokerFileOf(directory)) as BrokerFile | undefined;
  if (known?.process !== undefined && isAlive(known.process.pid, known.process.identity))
    return { pid: known.process.pid, container: undefined, port: known.port };
  if (known?.container !== undefined && isContainerRunning(known.container))
    return { pid: undefined, container: known.container, port: known.port };
  return undefined;
}

/** Lets the broker write out what it holds, and ends its name server. Returns what was done, in words. */
export async function stopRabbitMq(directory: string): Promise<string> {
  const running = findRabbitMq(directory);
  const done = running === undefined ? 'was not running' : await stop(directory, running);
  await stopEpmd((readJson(brokerFileOf(directory)) as BrokerFile | undefined)?.epmd);
  rmSync(brokerFileOf(directory), { force: true });
  return done;
}

async function stop(directory: string, running: RunningRabbitMq): Promise<string> {
  if (running.container !== undefined) {
    stopContainer(running.container, STOP_SECONDS);
    return 'container stopped';
  }
  const pid = running.pid ?? 0;
  const isGone = () => (findRabbitMq(directory) === undefined ? true : undefined);
  signal(pid, 'SIGTERM');
  if ((await waitUntil(isGone, { withinSeconds: STOP_SECONDS })) === true) return 'stopped';
  signal(pid, 'SIGKILL');
  if ((await waitUntil(isGone, { withinSeconds: KILL_SECONDS })) === true)
    return `killed: it had not stopped after ${STOP_SECONDS} s`;
  throw new SvcError(`RabbitMQ (process ${pid}) does not stop`, { hint: `kill -9 ${pid} ends it` });
}

/**
 * Erlang's name server outlives the broker, and a broker that misses it starts another, whose process nobody noted.
 * The one we started gets a signal; one that was started later on the same port is asked to end, which it does when no
 * node is registered with it any more.
 */
export async function stopEpmd(epmd: BrokerFile['epmd']): Promise<void> {
  if (epmd === undefined) return;
  const { pid, identity } = epmd.process;
  if (isAlive(pid, identity)) {
    signal(pid, 'SIGTERM');
    await waitUntil(() => (isAlive(pid, identity) ? undefined : true), { withinSeconds: 5 });
  }
  await askEpmdToEnd(epmd.port);
}

function askEpmdToEnd(port: number): Promise<void> {
  const killRequest = Buffer.from([0, 1, 'k'.charCodeAt(0)]);
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, timeout: 1000 }, () => socket.write(killRequest));
    const finish = () => {
      socket.destroy();
      resolve();
    };
    for (const event of ['data', 'timeout', 'error', 'close']) socket.once(event, finish);
  });
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // ended by itself in between
  }
}
