import { randomUUID } from 'node:crypto';
import { newOwnCode } from '@svc/kernel';
import { EventLog } from '@svc/messaging';
import { planOf } from '@svc/testing';
import { buildPayment, type Gateway, startGateway } from '../../test/gateway.js';
import { SessionRepository } from './session.repository.js';

const ROWS = 100_000;
const ROWS_PER_INSERT = 10_000;

let gateway: Gateway;
let sessions: SessionRepository;
let sessionId: string;
beforeAll(async () => {
  gateway = await startGateway();
  sessions = new SessionRepository(gateway.dataSource, gateway.service.app.get(EventLog));
  sessionId = await gateway.createSession(await gateway.createMerchant());
});
afterAll(() => gateway.stop());

/**
 * Disables autovacuum and inserts rows. So PostgreSQL has no statistics, as if the tables had grown since the last
 * ANALYZE.
 */
async function fillTables(): Promise<void> {
  const query = (text: string, values?: unknown[]) => gateway.dataSource.query<unknown>(text, values);
  for (let from = 0; from < ROWS; from += ROWS_PER_INSERT) {
    const numbers = `generate_series(${from + 1}, ${from + ROWS_PER_INSERT}) AS number`;
    await query(
      `INSERT INTO sessions (session_id, mode, merchant_id, site_id, merchant_name, api_version, request_id, fingerprint,
                             merchant_order_id, amount, currency, notification_url, return_url, cancel_url, origin, site_name,
                             custom_fields, created_at, expires_at, payable_state, payable_version, payment_count, extended, code)
       SELECT gen_random_uuid(), mode, merchant_id, site_id, merchant_name, api_version, number, fingerprint, merchant_order_id,
              amount, currency, notification_url, return_url, cancel_url, origin, site_name, custom_fields, created_at, expires_at,
              payable_state, payable_version, payment_count, extended, lpad(number::text, 20, '0')
         FROM sessions, ${numbers} WHERE session_id = $1`,
      [sessionId],
    );
    await query(`INSERT INTO hosted_payments (payment_reference, session_id, snapshot, accepted_at, version)
                 SELECT number, gen_random_uuid(), '{}', now(), 2 FROM ${numbers}`);
  }
}

/** Matches a plan that looks up each row of a batch in `index`, with only the key as condition. */
const batchLookUp = (index: string, condition: string): RegExp =>
  new RegExp(
    String.raw`Nested Loop .*\n\s+->  Function Scan on \w+ .*\n(\s+->  Limit .*\n)?\s+->  Index Scan using ${index} on .*\n\s+Index Cond: \(${condition}\)`,
  );
/** Matches a plan that looks up the payments of each session in their index. */
const PAYMENTS =
  /Scan (Backward using|on) hosted_payments_by_session .*\n\s+Index Cond: \(session_id = sessions.session_id\)/;

describe.each([0, ROWS])('in tables with %d additional rows and without statistics', (additionalRows) => {
  beforeAll(async () => {
    if (additionalRows > 0) await fillTables();
  });

  test('a batch looks up each session by id in an index, and its payments in another index', async () => {
    const plan = await planOf(gateway.dataSource, () => sessions.findWithPayments(sessionId));
    expect(plan).toMatch(batchLookUp('sessions_pkey', 'session_id = requested.key'));
    expect(plan).toMatch(PAYMENTS);
  });

  test('a batch looks up each session by code in an index, and its payments in another index', async () => {
    const plan = await planOf(gateway.dataSource, () => sessions.findByAddress({ code: '0'.repeat(20) }));
    expect(plan).toMatch(batchLookUp('sessions_by_code', 'code = requested.key'));
    expect(plan).toMatch(PAYMENTS);
  });

  test('the statement that stores payments looks up each session and each stored payment by primary key', async () => {
    const payment = buildPayment(await gateway.findPublishedPayable(sessionId), { version: 2 });
    const plan = await planOf(gateway.dataSource, () => sessions.upsertPayment(payment));
    expect(plan).toMatch(batchLookUp('sessions_pkey', 'session_id = newest.id'));
    expect(plan).toMatch(
      /Nested Loop Anti Join .*\n\s+->  Function Scan on unnest .*\n\s+->  Index Scan using hosted_payments_pkey on .*\n\s+Index Cond: \(payment_reference = /,
    );
  });

  test('the statement that creates sessions reads no table', async () => {
    const session = (await sessions.findWithPayments(sessionId))!;
    const other = { ...session, code: newOwnCode(), sessionId: randomUUID(), requestId: randomUUID() };
    const plan = await planOf(gateway.dataSource, () => sessions.create(other, 'f'.repeat(64)));
    expect(plan).toMatch(/Conflict Arbiter Indexes: sessions_idempotency/);
    expect(plan).not.toMatch(/(Index|Heap|Seq|Only) Scan/);
  });
});
