/** The broker of one directory: found by the file its start wrote, and stopped. Needs nothing that is installed. */
import { rmSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { type KnownProcess, isRunning, stopProcess } from '../base/background-process.ts';
import { readJson } from '../base/files.ts';
import { isContainerRunning, stopContainer } from './rabbitmq-container.ts';
import { SvcError } from '../base/svc-error.ts';

/** What a start leaves in `broker.json`. */
export interface BrokerFile {
  readonly port: number;
  /** A process of this machine, or a container's name. */
  readonly process?: KnownProcess;
  readonly container?: string;
  readonly epmd?: { readonly port: number; readonly process: KnownProcess };
}

export interface RunningRabbitMq {
  /** Undefined in a container. */
  readonly pid: number | undefined;
  readonly container: string | undefined;
  readonly port: number;
}

/** Quorum queues are written out and leaders handed over; a broker with nothing to do takes about two seconds. */
const STOP_SECONDS = 30;

export function brokerFileOf(directory: string): string {
  return join(directory, 'broker.json');
}

/** Undefined also when the file names a process that is gone, or whose number belongs to another process by now. */
export function findRabbitMq(directory: string): RunningRabbitMq | undefined {
  const known = readJson(brokerFileOf(directory)) as BrokerFile | undefined;
  if (isRunning(known?.process)) return { pid: known.process.pid, container: undefined, port: known.port };
  if (known?.container !== undefined && isContainerRunning(known.container))
    return { pid: undefined, container: known.container, port: known.port };
  return undefined;
}

/** Lets the broker write out what it holds, and ends its name server. Returns what was done, in words. */
export async function stopRabbitMq(directory: string): Promise<string> {
  const known = readJson(brokerFileOf(directory)) as BrokerFile | undefined;
  const container = findRabbitMq(directory)?.container;
  if (container !== undefined) stopContainer(container, STOP_SECONDS);
  const done = container === undefined ? await stopProcess(known?.process, STOP_SECONDS) : 'container stopped';
  if (isRunning(known?.process))
    throw new SvcError(`RabbitMQ: ${done}`, { hint: `kill -9 ${known.process.pid} ends it` });
  await stopEpmd(known?.epmd);
  rmSync(brokerFileOf(directory), { force: true });
  return done;
}

/**
 * Erlang's name server outlives the broker, and a broker that misses it starts another one, which is in no file.
 * The one we started gets a signal; one that was started later on the same port is asked to end, which it does when no
 * node is registered with it any more.
 */
export async function stopEpmd(epmd: BrokerFile['epmd']): Promise<void> {
  if (epmd === undefined) return;
  await stopProcess(epmd.process, 5);
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
