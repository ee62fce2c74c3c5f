/** Records notifications under a lease, signs each twice, posts it, and stores the result. */
import { createHash, randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { Agent } from 'undici';
import type { Query } from './database.ts';
import type { Snapshot } from './gateway.ts';

const CONCURRENCY = 50;
const LEASE_MS = 30_000;

export class Dispatcher {
  private readonly query: Query;
  private readonly apiKey: string;
  private readonly signer: Webhook;
  private readonly agent = new Agent({ connections: CONCURRENCY });
  private readonly waiting: (() => void)[] = [];
  private sending = 0;

  constructor(query: Query, apiKey: string, secret: string) {
    this.query = query;
    this.apiKey = apiKey;
    this.signer = new Webhook(secret);
  }

  async record(payments: Snapshot[]): Promise<void> {
    const rows = payments.map((payment) => ({
      id: randomUUID(),
      payment,
      url: String(payment.request['notificationUrl']),
      fields: fieldsOf(payment),
    }));
    const recorded = await this.query<{ id: string }>(
      'record',
      `INSERT INTO dispatcher.notifications SELECT id, reference, url, fields, 'pending', $5, $5
         FROM unnest($1::uuid[], $2::text[], $3::text[], $4::jsonb[]) AS n(id, reference, url, fields)
       ON CONFLICT DO NOTHING RETURNING id`,
      [
        rows.map(({ id }) => id),
        rows.map(({ payment }) => payment.paymentReference),
        rows.map(({ url }) => url),
        rows.map(({ fields }) => fields),
        new Date(Date.now() + LEASE_MS),
      ],
    );
    const ids = new Set(recorded.map(({ id }) => id));
    for (const row of rows) if (ids.has(row.id)) void this.send(row.id, row.url, row.fields);
  }

  private async send(id: string, url: string, fields: Record<string, unknown>): Promise<void> {
    while (this.sending >= CONCURRENCY) await new Promise<void>((resolve) => this.waiting.push(resolve));
    this.sending++;
    const startedAt = new Date();
    const hash = createHash('sha256')
      .update(Object.values(fields).join('') + this.apiKey)
      .digest('hex');
    const body = JSON.stringify({ ...fields, signature: hash });
    const { origin, pathname, search } = new URL(url);
    const headers = {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(startedAt.getTime() / 1_000)),
      'webhook-signature': this.signer.sign(id, startedAt, body),
    };
    const answer = await this.agent.request({ origin, path: pathname + search, method: 'POST', headers, body });
    await answer.body.dump();
    this.sending--;
    this.waiting.shift()?.();
    await this.query(
      'result',
      `WITH delivered AS (UPDATE dispatcher.notifications SET state = 'delivered', leased_until = NULL, next_attempt_at = NULL WHERE id = $1 RETURNING id)
       INSERT INTO dispatcher.delivery_attempts SELECT id, 1, $2, $3 FROM delivered`,
      [id, startedAt, answer.statusCode],
    );
  }
}

function fieldsOf({ sessionId, paymentReference, amount, request, paymentUTCDate }: Snapshot): Record<string, unknown> {
  const { merchantOrderId, currencyISOCode } = request;
  return {
    sessionId,
    amount,
    currencyISOCode,
    merchantOrderId,
    paymentReference,
    paymentStatus: 'Success',
    paymentUTCDate,
    status: 'Success',
  };
}
