/**
 * Shared by both job queues: a program that gets its settings as JSON in its first argument, prints `ready`, adds jobs in
 * bulk for each line that it reads, and processes them at the same time.
 */
import { createHash, randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import { Webhook } from 'standardwebhooks';
import { Pool } from 'undici';
import { BATCH_SIZE, CONCURRENCY, newNotification, type Notification } from './sender.ts';

export interface JobSettings {
  /** Where the packages of the queue are installed. */
  readonly folder: string;
  /** Of Redis or PostgreSQL. */
  readonly address: string;
  readonly secret: string;
}

export interface Job {
  readonly id: string;
  readonly url: string;
  readonly body: Notification;
}

export const settings = JSON.parse(process.argv[2]!) as JobSettings;

const webhook = new Webhook(settings.secret);
let pool: Pool | undefined;

/** One attempt. Throws unless the merchant acknowledges it, so that the queue retries. */
export async function deliver({ id, url, body }: Job): Promise<void> {
  const { origin, pathname } = new URL(url);
  pool ??= new Pool(origin, { connections: CONCURRENCY, headersTimeout: 10_000, bodyTimeout: 10_000 });
  const payload = JSON.stringify({ ...body, signature: signatureOf(body) });
  const now = new Date();
  const answer = await pool.request({
    method: 'POST',
    path: pathname,
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
      'webhook-signature': webhook.sign(id, now, payload),
    },
    body: payload,
  });
  await answer.body.dump();
  if (answer.statusCode >= 300) throw new Error(`The merchant answered ${answer.statusCode}.`);
}

/** The signature in the body (E3). */
function signatureOf(body: Notification): string {
  const { sessionId, amount, currencyISOCode, merchantOrderId, paymentReference, paymentStatus, paymentUTCDate } = body;
  const parts = [settings.secret, sessionId, amount, currencyISOCode, merchantOrderId, paymentReference];
  return createHash('sha256')
    .update([...parts, paymentStatus, paymentUTCDate, ''].join('|'))
    .digest('hex');
}

/** Prints that the program is ready, and adds the requested jobs in bulk. */
export async function serve(addBulk: (jobs: Job[]) => Promise<void>): Promise<void> {
  process.on('SIGTERM', () => process.exit(0));
  console.log('ready');
  for await (const line of createInterface({ input: process.stdin })) {
    const { url, count } = JSON.parse(line) as { url: string; count: number };
    for (let added = 0; added < count; added += BATCH_SIZE) {
      const length = Math.min(BATCH_SIZE, count - added);
      await addBulk(Array.from({ length }, () => ({ id: randomUUID(), url, body: newNotification() })));
    }
  }
}
