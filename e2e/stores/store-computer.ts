/** A store's computer, on which the transformer runs, and the store's network line to the platform. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { PATIENCE, waitUntil } from '@svc/testing';
import { readMemoryMegabytes } from '../../tools/svc/base/process-identity.ts';
import { ROOT } from '../platform/platform.js';

/** The network line between store and platform, which a test can interrupt. */
export class NetworkLine {
  isDown = false;
  /** Whether the line fails as soon as the platform responds, so that the store's requests arrive without a response. */
  losesResponses = false;
  /** The address of the platform for the store, once the line is open. */
  url = '';
  private readonly sockets = new Set<Socket>();
  private readonly server: Server;

  constructor(port: number) {
    this.server = createServer((near) => {
      if (this.isDown) return void near.destroy();
      const far = connect(port, '127.0.0.1');
      for (const [socket, other] of [
        [near, far],
        [far, near],
      ] as const) {
        this.sockets.add(socket);
        socket.on('error', () => other.destroy());
        socket.once('close', () => (this.sockets.delete(socket), other.destroy()));
        if (socket === near) socket.pipe(other);
      }
      far.on('data', (chunk) => (this.losesResponses ? near.destroy() : near.write(chunk)));
      far.once('end', () => near.end());
    });
  }

  async open(): Promise<string> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    this.url = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
    return this.url;
  }

  breakDown(): void {
    this.isDown = true;
    for (const socket of this.sockets) socket.destroy();
  }

  repair(): void {
    this.isDown = false;
  }

  close(): void {
    this.breakDown();
    this.server.close();
  }
}

export interface TillAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, string | number>> & { readonly Result?: string };
}

/** The store's computer: runs the bundled program like its systemd unit, with its own SQLite file. */
export class StoreComputer {
  kills = 0;
  readonly memoryMb: number[] = [];
  url = '';
  private child: ChildProcess | undefined;
  private readonly folder = mkdtempSync(join(tmpdir(), 'svc-store-'));
  private readonly log = join(this.folder, 'transformer.log');

  /** @param isMeasured true to run it with a higher priority than the platform, like on a computer of its own */
  constructor(
    config: object,
    private readonly isMeasured: boolean,
  ) {
    writeFileSync(join(this.folder, 'transformer.json'), JSON.stringify(config));
  }

  async start(): Promise<void> {
    // The output goes into a file, like a journal, because with a pipe a busy reader would block the program.
    const log = openSync(this.log, 'a');
    const { size } = statSync(this.log);
    const child = spawn(process.execPath, argumentsOfUnit(join(this.folder, 'transformer.json')), {
      cwd: join(ROOT, 'dist/pos-transformer'),
      stdio: ['ignore', log, log],
      env: { PATH: process.env['PATH'] },
    });
    closeSync(log);
    this.child = child;
    if (this.isMeasured) raisePriority(child.pid!);
    this.url = await waitUntil('the transformer to listen', 30_000, async () => {
      const output = readFileSync(this.log, 'utf8').slice(size);
      if (child.exitCode !== null) throw new Error(`The transformer has ended: ${output}`);
      return /"address":"([^"]+)"/.exec(output)?.[1];
    });
  }

  /** Cuts the power, and starts the computer again. */
  async kill(): Promise<void> {
    this.kills++;
    this.recordMemory();
    this.child!.kill('SIGKILL');
    await once(this.child!, 'exit');
    await this.start();
  }

  async stop(): Promise<number | null> {
    this.recordMemory();
    this.child!.kill('SIGTERM');
    const [code] = (await once(this.child!, 'exit')) as [number | null];
    rmSync(this.folder, { recursive: true });
    return code;
  }

  /** Repeats a call until it gets a response, like a till. */
  call(method: 'GET' | 'POST', path: string, body?: object, till?: string): Promise<TillAnswer> {
    return waitUntil(`${path} to be answered`, 60_000, async () => {
      const answer = await fetch(`${this.url}${path}`, {
        method,
        headers: { 'content-type': 'application/json', ...(till === undefined ? {} : { 'x-till': till }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(15_000 * PATIENCE),
      });
      return { status: answer.status, body: (await answer.json()) as TillAnswer['body'] };
    });
  }

  /**
   * The program's own response times from its log, in whole milliseconds. The times exclude the wait for a processor.
   */
  answerTimes(route: string): number[] {
    const line = new RegExp(`"route":"${route}".*"ms":(\\d+)`, 'g');
    return [...readFileSync(this.log, 'utf8').matchAll(line)].map(([, ms]) => Number(ms));
  }

  /**
   * Records the peak resident memory of the process, as Linux reports it. On other systems, records the current memory.
   */
  private recordMemory(): void {
    const file = `/proc/${this.child!.pid}/status`;
    const most = existsSync(file) ? /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(file, 'utf8'))?.[1] : undefined;
    this.memoryMb.push(
      most === undefined ? (readMemoryMegabytes(this.child!.pid!) ?? Number.NaN) : Math.round(Number(most) / 1024),
    );
  }
}

/** Raises the priority of a process. This needs root. Without root the priority stays as it is. */
export function raisePriority(pid: number): void {
  try {
    setPriority(pid, -15);
  } catch {
    console.log(
      'The priority could not be raised, which needs root: the measured times include those of other processes.',
    );
  }
}

/** The Node.js arguments of docker/pos-transformer.service, with another configuration file. */
function argumentsOfUnit(configFile: string): string[] {
  const unit = readFileSync(join(ROOT, 'docker/pos-transformer.service'), 'utf8');
  const [, words = ''] = /^ExecStart=\/usr\/bin\/node (.+)$/m.exec(unit) ?? [];
  if (words === '') throw new Error('The unit file does not start Node.js.');
  return [...words.split(' ').slice(0, -1), configFile];
}
