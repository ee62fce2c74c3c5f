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
  /** The broker is either a process of this machine or a container. */
  readonly process?: ProcessRecord;
  readonly container?: string;
  /** Erlang's name server for the process. */
  readonly epmd?: { readonly port: number; readonly process: ProcessRecord };
}

interface RunningRabbitMq {
  /** Undefined in a container. */
  readonly pid: number | undefined;
  readonly container: string | undefined;
  readonly port: number;
}

/** The time in which the broker flushes quorum queues and transfers leaders; an idle broker needs about two seconds. */
const STOP_SECONDS = 30;

export function brokerFilePath(directory: string): string {
  return join(directory, 'broker.json');
}

/** Undefined when no broker runs, even if its file remains or another process now has its process id. */
export function findRabbitMq(directory: string): RunningRabbitMq | undefined {
  const file = readJson(brokerFilePath(directory)) as BrokerFile | undefined;
  if (isRunning(file?.process)) return { pid: file.process.pid, container: undefined, port: file.port };
  if (file?.container !== undefined && isContainerRunning(file.container))
    return { pid: undefined, container: file.container, port: file.port };
  return undefined;
}

/** Stops the broker and its name server. Returns the outcome as a text. */
export async function stopRabbitMq(directory: string): Promise<string> {
  const file = readJson(brokerFilePath(directory)) as BrokerFile | undefined;
  const container = findRabbitMq(directory)?.container;
  if (container !== undefined) stopContainer(container, STOP_SECONDS);
  const outcome = container === undefined ? await stopProcess(file?.process, STOP_SECONDS) : 'container stopped';
  if (isRunning(file?.process))
    throw new SvcError(`RabbitMQ: ${outcome}`, { hint: `end it with kill -9 ${file.process.pid}` });
  await stopEpmd(file?.epmd);
  rmSync(brokerFilePath(directory), { force: true });
  return outcome;
}

/**
 * Erlang's name server (epmd) outlives the broker. If it ends earlier, the broker starts another epmd process, which no
 * file records, on the same port. This function sends a signal to the recorded process. It then requests the exit of an
 * unrecorded process over the network. epmd accepts this request when no node is registered.
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
