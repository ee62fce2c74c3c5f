/** Records notifications under a lease, adds two signatures to each, sends it by POST, and stores the result. */
import { createHash, randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { Agent } from 'undici';
import type { Query } from './database.ts';
import type { PaymentSnapshot } from './gateway.ts';

const CONCURRENCY = 50;
const LEASE_MS = 30_000;

export class Dispatcher {
  private readonly query: Query;
  private readonly apiKey: string;
  private readonly signer: Webhook;
  private readonly agent = new Agent({ connections: CONCURRENCY });
  private readonly waitingForSlot: (() => void)[] = [];
  private sendingCount = 0;

  constructor(query: Query, apiKey: string, secret: string) {
    this.query = query;
    this.apiKey = apiKey;
    this.signer = new Webhook(secret);
  }

  async record(payments: PaymentSnapshot[]): Promise<void> {
    const rows = payments.map((payment) => ({
      id: randomUUID(),
      payment,
      url: String(payment.request['notificationUrl']),
      fields: newNotificationFields(payment),
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
    while (this.sendingCount >= CONCURRENCY) await new Promise<void>((resolve) => this.waitingForSlot.push(resolve));
    this.sendingCount++;
    const startedAt = new Date();
    const bodySignature = createHash('sha256')
      .update(Object.values(fields).join('') + this.apiKey)
      .digest('hex');
    const body = JSON.stringify({ ...fields, signature: bodySignature });
    const { origin, pathname, search } = new URL(url);
    const headers = {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(startedAt.getTime() / 1_000)),
      'webhook-signature': this.signer.sign(id, startedAt, body),
    };
    const response = await this.agent.request({ origin, path: pathname + search, method: 'POST', headers, body });
    await response.body.dump();
    this.sendingCount--;
    this.waitingForSlot.shift()?.();
    await this.query(
      'result',
      `WITH delivered AS (UPDATE dispatcher.notifications SET state = 'delivered', leased_until = NULL, next_attempt_at = NULL WHERE id = $1 RETURNING id)
       INSERT INTO dispatcher.delivery_attempts SELECT id, 1, $2, $3 FROM delivered`,
      [id, startedAt, response.statusCode],
    );
  }
}

function newNotificationFields({
  sessionId,
  paymentReference,
  amount,
  request,
  paymentUTCDate,
}: PaymentSnapshot): Record<string, unknown> {
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
