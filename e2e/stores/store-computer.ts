/** A store with a transformer on a computer of its own, and the line from there to the platform. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { PATIENCE, waitUntil } from '@svc/testing';
import { readMemoryMegabytes } from '../../tools/svc/base/process-identity.ts';
import { ROOT } from '../platform/platform.js';

/** The line between store and platform. */
export class Line {
  isDown = false;
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
        socket.pipe(other);
      }
    });
  }

  async open(): Promise<string> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
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

/** The computer in the store: the program as it is bundled and as its systemd unit starts it, on a file of its own. */
export class StoreComputer {
  kills = 0;
  readonly memoryMb: number[] = [];
  url = '';
  private child: ChildProcess | undefined;
  private readonly folder = mkdtempSync(join(tmpdir(), 'svc-store-'));
  private readonly log = join(this.folder, 'transformer.log');

  /** @param isOwn it has a computer of its own: it does not wait for a processor that the platform, or another store, has */
  constructor(
    config: object,
    private readonly isOwn: boolean,
  ) {
    writeFileSync(join(this.folder, 'transformer.json'), JSON.stringify(config));
  }

  async start(): Promise<void> {
    // Into a file, as a journal takes it: a pipe whose reader is busy would hold the program up.
    const log = openSync(this.log, 'a');
    const { size } = statSync(this.log);
    const child = spawn(process.execPath, argumentsOfUnit(join(this.folder, 'transformer.json')), {
      cwd: join(ROOT, 'dist/pos-transformer'),
      stdio: ['ignore', log, log],
      env: { PATH: process.env['PATH'] },
    });
    closeSync(log);
    this.child = child;
    if (this.isOwn) takePrecedence(child.pid!);
    this.url = await waitUntil('the transformer to listen', 30_000, async () => {
      const output = readFileSync(this.log, 'utf8').slice(size);
      if (child.exitCode !== null) throw new Error(`It has ended: ${output}`);
      return /"address":"([^"]+)"/.exec(output)?.[1];
    });
  }

  /** A power cut, and the start after it. */
  async kill(): Promise<void> {
    this.kills++;
    this.keepMemory();
    this.child!.kill('SIGKILL');
    await once(this.child!, 'exit');
    await this.start();
  }

  async stop(): Promise<number | null> {
    this.keepMemory();
    this.child!.kill('SIGTERM');
    const [code] = (await once(this.child!, 'exit')) as [number | null];
    rmSync(this.folder, { recursive: true });
    return code;
  }

  /** A till repeats a call until it is answered. */
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

  /** How long the program itself took to answer, by its log, in whole milliseconds: waiting for a processor before is not in it. */
  answerTimes(route: string): number[] {
    const line = new RegExp(`"route":"${route}".*"ms":(\\d+)`, 'g');
    return [...readFileSync(this.log, 'utf8').matchAll(line)].map(([, ms]) => Number(ms));
  }

  /** The most resident memory that its process had, as Linux keeps it, pages of the file of Node.js included; elsewhere what it has. */
  private keepMemory(): void {
    const file = `/proc/${this.child!.pid}/status`;
    const most = existsSync(file) ? /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(file, 'utf8'))?.[1] : undefined;
    this.memoryMb.push(
      most === undefined ? (readMemoryMegabytes(this.child!.pid!) ?? Number.NaN) : Math.round(Number(most) / 1024),
    );
  }
}

/** For a process that has a computer of its own in life; without the right to it, the process waits as the others do. */
export function takePrecedence(pid: number): void {
  try {
    setPriority(pid, -15);
  } catch {
    console.log('These figures are those of a busy machine: only root gives a process precedence.');
  }
}

/** What Node.js is given by docker/pos-transformer.service, with another configuration file. */
function argumentsOfUnit(configFile: string): string[] {
  const unit = readFileSync(join(ROOT, 'docker/pos-transformer.service'), 'utf8');
  const [, words = ''] = /^ExecStart=\/usr\/bin\/node (.+)$/m.exec(unit) ?? [];
  if (words === '') throw new Error('The unit starts no Node.js.');
  return [...words.split(' ').slice(0, -1), configFile];
}
