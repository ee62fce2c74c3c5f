import { randomUUID } from 'node:crypto';
import { EventLog } from '@svc/messaging';
import { planOf } from '@svc/testing';
import { aPayment, type Gateway, startGateway } from '../../test/gateway.js';
import { SessionRepository } from './session.repository.js';

const ROWS = 100_000;
const ROWS_AT_ONCE = 10_000;

let gateway: Gateway;
let sessions: SessionRepository;
let sessionId: string;
beforeAll(async () => {
  gateway = await startGateway();
  sessions = new SessionRepository(gateway.dataSource, gateway.service.app.get(EventLog));
  sessionId = await gateway.createSession(await gateway.aMerchant());
});
afterAll(() => gateway.stop());

/** Without statistics, as if the tables had grown since the last ANALYZE. */
async function fillTables(): Promise<void> {
  const query = (text: string, values?: unknown[]) => gateway.dataSource.query<unknown>(text, values);
  for (const table of ['sessions', 'hosted_payments'])
    await gateway.superuser.query(`ALTER TABLE ${table} SET (autovacuum_enabled = off)`);
  for (let from = 0; from < ROWS; from += ROWS_AT_ONCE) {
    const numbers = `generate_series(${from + 1}, ${from + ROWS_AT_ONCE}) AS number`;
    await query(
      `INSERT INTO sessions (session_id, mode, merchant_id, site_id, merchant_name, api_version, request_id, fingerprint,
                             merchant_order_id, amount, currency, notification_url, return_url, cancel_url, origin, site_name,
                             custom_fields, created_at, expires_at, payable_state, payable_version, tries, code)
       SELECT gen_random_uuid(), mode, merchant_id, site_id, merchant_name, api_version, number, fingerprint, merchant_order_id,
              amount, currency, notification_url, return_url, cancel_url, origin, site_name, custom_fields, created_at, expires_at,
              payable_state, payable_version, tries, lpad(number::text, 20, '0')
         FROM sessions, ${numbers} WHERE session_id = $1`,
      [sessionId],
    );
    await query(`INSERT INTO hosted_payments (payment_reference, session_id, snapshot, accepted_at, version)
                 SELECT number, gen_random_uuid(), '{}', now(), 2 FROM ${numbers}`);
  }
}

/** A look-up in `index` for each row of a batch, only by its key. */
const eachBy = (index: string, condition: string): RegExp =>
  new RegExp(
    String.raw`Nested Loop .*\n\s+->  Function Scan on \w+ .*\n(\s+->  Limit .*\n)?\s+->  Index Scan using ${index} on .*\n\s+Index Cond: \(${condition}\)`,
  );
const PAYMENTS =
  /Scan (Backward using|on) hosted_payments_by_session .*\n\s+Index Cond: \(session_id = sessions.session_id\)/;

describe.each(['empty', `of ${ROWS} rows`])('in tables that are %s and were never analysed', (which) => {
  beforeAll(async () => {
    if (which !== 'empty') await fillTables();
  });

  test('a session and its payments are looked up by its id, for each of a batch', async () => {
    const plan = await planOf(gateway.dataSource, () => sessions.findWithPayments(sessionId));
    expect(plan).toMatch(eachBy('sessions_pkey', 'session_id = given.key'));
    expect(plan).toMatch(PAYMENTS);
  });

  test('a session and its payments are looked up by its code, for each of a batch', async () => {
    const plan = await planOf(gateway.dataSource, () => sessions.findByAddress({ code: '0'.repeat(20) }));
    expect(plan).toMatch(eachBy('sessions_by_code', 'code = given.key'));
    expect(plan).toMatch(PAYMENTS);
  });

  test('writing payments looks up each session and the earlier version by key', async () => {
    const payment = aPayment(await gateway.payableOf(sessionId), { version: 2 });
    const plan = await planOf(gateway.dataSource, () => sessions.upsertPayment(payment));
    expect(plan).toMatch(eachBy('sessions_pkey', 'session_id = newest.session_id'));
    expect(plan).toMatch(
      /Nested Loop Anti Join .*\n\s+->  Function Scan on unnest .*\n\s+->  Index Scan using hosted_payments_pkey on .*\n\s+Index Cond: \(payment_reference = /,
    );
  });

  test('sessions are created without reading a table', async () => {
    const session = (await sessions.findWithPayments(sessionId))!;
    const other = { ...session, code: null, sessionId: randomUUID(), requestId: randomUUID() };
    const plan = await planOf(gateway.dataSource, () => sessions.create(other, 'f'.repeat(64)));
    expect(plan).toMatch(/Conflict Arbiter Indexes: sessions_idempotency/);
    expect(plan).not.toMatch(/(Index|Heap|Seq|Only) Scan/);
  });
});
