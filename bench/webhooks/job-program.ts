/**
 * The common code of the programs for both job queues. A program gets its settings as JSON in its first argument and
 * prints `ready`. Each line of its input requests a number of webhooks; the program adds their jobs in bulk, and
 * processes jobs at the same time.
 */
import { createHash, randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import { Webhook } from 'standardwebhooks';
import { Pool } from 'undici';
import { BATCH_SIZE, CONCURRENCY, newNotification, type Notification } from './sender.ts';

export interface JobSettings {
  /** Folder in which the packages of the queue are installed. */
  readonly folder: string;
  /** URL of Redis or PostgreSQL. */
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

/** Makes one delivery attempt. @throws Error if the merchant does not acknowledge it, so that the queue retries */
export async function deliverWebhook({ id, url, body }: Job): Promise<void> {
  const { origin, pathname } = new URL(url);
  pool ??= new Pool(origin, { connections: CONCURRENCY, headersTimeout: 10_000, bodyTimeout: 10_000 });
  const payload = JSON.stringify({ ...body, signature: computeBodySignature(body) });
  const now = new Date();
  const response = await pool.request({
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
  await response.body.dump();
  if (response.statusCode >= 300) throw new Error(`The merchant responded ${response.statusCode}.`);
}

/** Computes the signature in the body of a webhook (E3). */
function computeBodySignature(body: Notification): string {
  const { sessionId, amount, currencyISOCode, merchantOrderId, paymentReference, paymentStatus, paymentUTCDate } = body;
  const parts = [settings.secret, sessionId, amount, currencyISOCode, merchantOrderId, paymentReference];
  return createHash('sha256')
    .update([...parts, paymentStatus, paymentUTCDate, ''].join('|'))
    .digest('hex');
}

/** Prints `ready`, then reads requests from the input and adds their jobs in bulk. */
export async function processRequests(addBulk: (jobs: Job[]) => Promise<void>): Promise<void> {
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
