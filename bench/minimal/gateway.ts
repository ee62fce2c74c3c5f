/** The routes of the gateway: create a session, the payment page, and the request of its Pay button. */
import { randomBytes, randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import type { Query } from './database.ts';

export interface PaymentSnapshot {
  readonly sessionId: string;
  readonly paymentReference: string;
  readonly state: 'processing' | 'success';
  readonly version: number;
  readonly amount: number;
  readonly request: Readonly<Record<string, unknown>>;
  readonly paymentUTCDate: string;
}

export interface SessionCreated {
  readonly payableId: string;
  readonly amount: number;
  /** 20 digits, for the QR code of the session. */
  readonly code: string;
  readonly merchantOrderId: string;
  readonly expiresAt: string;
}

interface SessionRow {
  session_id: string;
  request: Readonly<Record<string, unknown>>;
  amount: string;
  state: string;
  expires_at: Date;
}

export interface GatewayOptions {
  readonly query: Query;
  readonly url: string;
  readonly apiKeys: ReadonlyMap<string, string>;
  /** The public key for cards, as JSON. */
  readonly publicJwk: string;
  /** Called after each commit with an event. */
  readonly onCommit: () => void;
  readonly charge: (request: object) => Promise<PaymentSnapshot>;
}

const SESSION_LIFETIME_MS = 30 * 60_000;

export function addGatewayRoutes(
  app: FastifyInstance,
  { query, url, apiKeys, publicJwk, onCommit, charge }: GatewayOptions,
): (payments: PaymentSnapshot[]) => Promise<void> {
  const findSession = async (sessionId: string): Promise<SessionRow> => {
    const [session] = await query<SessionRow>(
      'find session',
      'SELECT session_id, request, amount, state, expires_at FROM gateway.sessions WHERE session_id = $1',
      [sessionId],
    );
    if (!session) throw new Error('There is no such session.');
    return session;
  };
  const saveSnapshots = newSnapshotStore(query);

  app.post('/api/v3.1/sessions', async (request, reply) => {
    if (apiKeys.get(String(request.headers['x-api-key'])) !== request.headers['merchantsiteid'])
      return reply.status(401).send();
    const body = request.body as { requestId: string; amount: number; merchantOrderId: string };
    const sessionId = randomUUID();
    const payload: SessionCreated = {
      payableId: sessionId,
      amount: body.amount,
      code: Array.from(randomBytes(20), (byte) => byte % 10).join(''),
      merchantOrderId: body.merchantOrderId,
      expiresAt: new Date(Date.now() + SESSION_LIFETIME_MS).toISOString(),
    };
    await query(
      'create session',
      `WITH created AS (
         INSERT INTO gateway.sessions VALUES ($1, $2, $3, $4, 'open', 1, $5) ON CONFLICT (request_id) DO NOTHING RETURNING session_id)
       INSERT INTO gateway.event_log (id, type, payload) SELECT $6, 'session.created', $7 FROM created`,
      [sessionId, body.requestId, body, body.amount, payload.expiresAt, randomUUID(), payload],
    );
    onCommit();
    return reply
      .status(201)
      .send({ sessionId, redirectUrl: `${url}/pay?sessionId=${sessionId}`, status: 'Success', errors: [] });
  });

  app.get('/pay', async (request, reply) => {
    const session = await findSession((request.query as { sessionId: string }).sessionId);
    const key = publicJwk.replaceAll('"', '&quot;');
    return reply
      .type('text/html')
      .header('content-encoding', 'gzip')
      .send(
        gzipSync(
          `<!doctype html><main data-state="${session.state}" data-session-id="${session.session_id}" data-payment-number="1" data-expires-at="${session.expires_at.toISOString()}" data-encryption-key="${key}"></main>`,
        ),
      );
  });

  app.post('/pay/:sessionId/payments', async (request) => {
    const session = await findSession((request.params as { sessionId: string }).sessionId);
    const { reference, encryptedCard } = request.body as { reference: string; encryptedCard: string };
    const payable = { payableId: session.session_id, amount: Number(session.amount), request: session.request };
    const payment = await charge({ payable, reference, encryptedCard });
    await saveSnapshots([payment]);
    return { state: payment.state === 'success' ? 'succeeded' : 'processing', version: payment.version };
  });
  return saveSnapshots;
}

/** Returns a function that stores the newest version of each payment. */
function newSnapshotStore(query: Query): (payments: PaymentSnapshot[]) => Promise<void> {
  const storedVersions = new Map<string, number>();
  return async (payments) => {
    const newer = payments.filter(
      ({ paymentReference, version }) => (storedVersions.get(paymentReference) ?? 0) < version,
    );
    if (newer.length === 0) return;
    const newest = [
      ...new Map(
        newer.sort((a, b) => a.version - b.version).map((payment) => [payment.paymentReference, payment]),
      ).values(),
    ];
    await query(
      'keep',
      `WITH payment AS (
         INSERT INTO gateway.hosted_payments AS h SELECT * FROM unnest($1::text[], $2::uuid[], $3::jsonb[], $4::bigint[])
         ON CONFLICT (payment_reference) DO UPDATE SET snapshot = excluded.snapshot, version = excluded.version WHERE h.version < excluded.version)
       UPDATE gateway.sessions s SET state = n.state, version = n.version
         FROM unnest($2::uuid[], $4::bigint[], $5::text[]) AS n(session_id, version, state)
        WHERE s.session_id = n.session_id AND s.version < n.version`,
      [
        newest.map((payment) => payment.paymentReference),
        newest.map((payment) => payment.sessionId),
        newest,
        newest.map((payment) => payment.version),
        newest.map((payment) => payment.state),
      ],
    );
    for (const { paymentReference, version } of newest) storedVersions.set(paymentReference, version);
  };
}
