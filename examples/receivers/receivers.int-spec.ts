import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Orders } from './orders.ts';

// Each receiver runs in a process of its own, as on a merchant's server. The test computes signatures itself instead of
// with the SDK.

const ROOT = join(import.meta.dirname, '..', '..');
const SECRET = `whsec_${randomBytes(24).toString('base64')}`;
const ORDER = { orderId: 'order-1001', amount: 12_345 };

beforeAll(() => {
  execFileSync(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '--build', join(ROOT, 'libs/sdk')]);
});

const newNotification = (overrides: Record<string, unknown> = {}): string =>
  JSON.stringify({
    signature: '0'.repeat(64),
    sessionId: '0198f2c4-7a3b-7c11-9d2e-5b6a7c8d9e0f',
    amount: ORDER.amount,
    currencyISOCode: 'ZAR',
    merchantOrderId: ORDER.orderId,
    paymentReference: '1VQ5K3P0ABCDEFGHJK',
    paymentStatus: 'Success',
    paymentUTCDate: '2026-03-01T09:59:58.123Z',
    status: 'Success',
    ...overrides,
  });

function signHeaders(body: string, { ageSeconds = 0, id = randomUUID() } = {}): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1000) - ageSeconds);
  const key = Buffer.from(SECRET.slice('whsec_'.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  };
}

describe.each(['plain-node.ts', 'express.ts', 'fastify.ts'])('the receiver %s', (file) => {
  let folder: string;
  let server: ChildProcess;
  let url: string;
  let output = '';

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'receiver-'));
    const ordersFile = join(folder, 'orders.sqlite');
    new Orders(ordersFile).place(ORDER.orderId, ORDER.amount);
    server = spawn(process.execPath, [join(import.meta.dirname, file)], {
      env: {
        ...process.env,
        NODE_OPTIONS: '--disable-warning=ExperimentalWarning',
        WEBHOOK_SECRET: SECRET,
        ORDERS_FILE: ordersFile,
        PORT: '0',
      },
    });
    const port = await new Promise<string>((resolve, reject) => {
      const read = (text: Buffer): void => {
        output += text.toString();
        const match = /listening on (\d+)/.exec(output);
        if (match) resolve(match[1]!);
      };
      server.stdout!.on('data', read);
      server.stderr!.on('data', read);
      server.on('exit', () => reject(new Error(`The receiver exited:\n${output}`)));
    });
    url = `http://127.0.0.1:${port}/webhooks/payments`;
  });
  afterAll(async () => {
    server.kill();
    await once(server, 'close');
    rmSync(folder, { recursive: true });
  });

  const readPaidBy = (): string | null => new Orders(join(folder, 'orders.sqlite')).find(ORDER.orderId)!.paidBy;
  async function send(body: string, headers: Record<string, string>): Promise<[status: number, text: string]> {
    const response = await fetch(url, { method: 'POST', headers, body });
    return [response.status, await response.text()];
  }

  it('refuses a webhook with a missing or old signature, a changed or too large body, or a wrong amount', async () => {
    const body = newNotification();
    expect(await send(body, { 'content-type': 'application/json' })).toEqual([400, 'bad-headers']);
    expect(await send(body, signHeaders(body, { ageSeconds: 600 }))).toEqual([400, 'too-old']);
    expect(await send(body.replace('12345', '12346'), signHeaders(body))).toEqual([400, 'bad-signature']);
    expect(await send(`${body} `, signHeaders(body))).toEqual([400, 'bad-signature']);
    expect((await send(' '.repeat(300_000), signHeaders(body)))[0]).toBe(413);
    const [wrongAmount, wrongCurrency] = [newNotification({ amount: 1 }), newNotification({ currencyISOCode: 'USD' })];
    expect(await send(wrongAmount, signHeaders(wrongAmount))).toEqual([400, 'unexpected-amount']);
    expect(await send(wrongCurrency, signHeaders(wrongCurrency))).toEqual([400, 'unexpected-currency']);
    const unknownOrder = newNotification({ merchantOrderId: 'order-1' });
    expect(await send(unknownOrder, signHeaders(unknownOrder))).toEqual([404, 'no such order']);
    expect(readPaidBy()).toBeNull();
  });

  it('applies a payment only once if its webhook is repeated, and accepts any content type', async () => {
    const failed = newNotification({
      paymentStatus: 'Failed',
      paymentReference: '1VQ5K3P0ABCDEFGHJ0',
      userMessage: 'Insufficient funds.',
    });
    expect((await send(failed, signHeaders(failed)))[0]).toBe(204);
    expect(readPaidBy()).toBeNull();

    const body = newNotification();
    const id = randomUUID();
    for (const type of ['application/json', 'application/json; charset=utf-8', 'text/plain'])
      expect((await send(body, { ...signHeaders(body, { id }), 'content-type': type }))[0]).toBe(204);
    expect(readPaidBy()).toBe('1VQ5K3P0ABCDEFGHJK');
    expect(output.match(/paid by/g)).toHaveLength(1);
  });
});
