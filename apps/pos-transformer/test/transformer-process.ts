import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitUntil } from '@svc/testing';
import { FakePlatform } from './fake-platform.js';
import { type Reply, SITE } from './test-transformer.js';

const PROGRAM = join(import.meta.dirname, '../dist/main.js');
const SHIFTED_CLOCK = join(import.meta.dirname, 'shifted-clock.mjs');

/** The compiled program in a process of its own, with a fake platform, a folder of its own and a clock that can be wrong. */
export class TransformerProcess {
  url = '';
  /** The output of the program since its last start. */
  output = '';
  private child: ChildProcess | undefined;

  private constructor(
    readonly platform: FakePlatform,
    readonly folder: string,
    private readonly database: string,
    private shiftMs: number,
  ) {}

  /** @param options the difference between the program's clock and the platform's clock, and the path of the database */
  static async start({ shiftMs = 0, database = '' }: { shiftMs?: number; database?: string } = {}) {
    const folder = mkdtempSync(join(tmpdir(), 'svc-pos-'));
    const file = database === '' ? join(folder, 'transformer.sqlite') : database;
    const program = new TransformerProcess(await new FakePlatform().start(), folder, file, shiftMs);
    await program.start();
    return program;
  }

  async start(): Promise<void> {
    const config = {
      apiUrl: this.platform.url,
      merchantId: 1001,
      sites: [{ siteId: SITE, siteReference: 'STORE-1', apiKey: 'key-1' }],
      port: 0,
      database: this.database,
    };
    const file = join(this.folder, 'transformer.json');
    writeFileSync(file, JSON.stringify(config));
    this.output = '';
    const child = spawn(process.execPath, ['--import', SHIFTED_CLOCK, PROGRAM, file], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: { PATH: process.env['PATH'], SHIFT_MS: String(this.shiftMs) },
    });
    for (const stream of [child.stdout!, child.stderr!])
      stream.setEncoding('utf8').on('data', (text: string) => (this.output += text));
    this.child = child;
    this.url = await waitUntil('the transformer to listen', 30_000, async () => {
      if (child.exitCode !== null) throw new Error(`The transformer has ended: ${this.output}`);
      return /"address":"([^"]+)"/.exec(this.output)?.[1];
    });
  }

  /** Sets the program's clock, now or for its next start. */
  setClock(shiftMs: number): void {
    this.shiftMs = shiftMs;
    if (this.child?.connected) this.child.send({ shiftMs });
  }

  /** Ends the program without any warning, as a power cut does. */
  async kill(): Promise<void> {
    this.child!.kill('SIGKILL');
    await once(this.child!, 'exit');
  }

  async stop(): Promise<void> {
    if (this.child!.exitCode === null && this.child!.signalCode === null) await this.kill();
    await this.platform.stop();
    rmSync(this.folder, { recursive: true });
  }

  async call(method: 'GET' | 'POST', path: string, body?: object): Promise<Reply> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json');
    return { status: response.status, headers: {}, body: isJson ? JSON.parse(text) : text };
  }

  sendTotal(amount: number, reference: string): Promise<Reply> {
    return this.call('POST', `/v1/sites/${SITE}/invoice/total`, { amount, reference });
  }

  resetBasket(): Promise<Reply> {
    return this.call('POST', `/v1/sites/${SITE}/invoice/reset`);
  }

  requestRefund(SvcId: string, RefundAmount: number): Promise<Reply> {
    return this.call('POST', '/SvcRefund', { SvcId, RefundAmount });
  }
}
