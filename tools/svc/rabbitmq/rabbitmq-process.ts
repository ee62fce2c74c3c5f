/** Finds the broker of a directory by its file `broker.json`, and stops it. Needs no package. */
import { rmSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { isRunning, type ProcessRecord, stopProcess } from '../base/background-process.ts';
import { readJson } from '../base/files.ts';
import { SvcError } from '../base/svc-error.ts';
import { isContainerRunning, stopContainer } from './rabbitmq-container.ts';

/** The content of `broker.json`. */
export interface BrokerFile {
  readonly port: number;
  /** Either a process of this machine or a container. */
  readonly process?: ProcessRecord;
  readonly container?: string;
  readonly epmd?: { readonly port: number; readonly process: ProcessRecord };
}

export interface RunningRabbitMq {
  /** Undefined in a container. */
  readonly pid: number | undefined;
  readonly container: string | undefined;
  readonly port: number;
}

/** To flush quorum queues and transfer leaders; an idle broker takes about two seconds. */
const STOP_SECONDS = 30;

export function brokerFilePath(directory: string): string {
  return join(directory, 'broker.json');
}

/** Undefined also when the process has ended, or when another process has its id now. */
export function findRabbitMq(directory: string): RunningRabbitMq | undefined {
  const known = readJson(brokerFilePath(directory)) as BrokerFile | undefined;
  if (isRunning(known?.process)) return { pid: known.process.pid, container: undefined, port: known.port };
  if (known?.container !== undefined && isContainerRunning(known.container))
    return { pid: undefined, container: known.container, port: known.port };
  return undefined;
}

/** Stops the broker and its name server. Returns the outcome as a text. */
export async function stopRabbitMq(directory: string): Promise<string> {
  const known = readJson(brokerFilePath(directory)) as BrokerFile | undefined;
  const container = findRabbitMq(directory)?.container;
  if (container !== undefined) stopContainer(container, STOP_SECONDS);
  const done = container === undefined ? await stopProcess(known?.process, STOP_SECONDS) : 'container stopped';
  if (isRunning(known?.process))
    throw new SvcError(`RabbitMQ: ${done}`, { hint: `end it with kill -9 ${known.process.pid}` });
  await stopEpmd(known?.epmd);
  rmSync(brokerFilePath(directory), { force: true });
  return done;
}

/**
 * Erlang's name server (epmd) outlives the broker, and a broker that loses it starts another one on the same port, which no file
 * records. Ours gets a signal; the other gets a request to end, which it accepts when no node is registered.
 */
export async function stopEpmd(epmd: BrokerFile['epmd']): Promise<void> {
  if (epmd === undefined) return;
  await stopProcess(epmd.process, 5);
  await requestEpmdExit(epmd.port);
}

function requestEpmdExit(port: number): Promise<void> {
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
