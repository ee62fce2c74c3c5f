/**
 * The records that the platform makes from the events of payments: the codes of sessions, the payments of a merchant
 * with the notifications for the stream of its site, and the seals of the ledger.
 */
import type { Query } from './database.ts';
import type { PaymentSnapshot, SessionCreated } from './gateway.ts';

const [MERCHANT_ID, SITE_ID] = [1, 1];

export async function insertCodes(query: Query, sessions: SessionCreated[]): Promise<void> {
  await query(
    'insert codes',
    `INSERT INTO code_decoder.session_codes AS c (session_id, code, merchant_id, site_id, merchant_order_id, amount, currency, expires_at)
     SELECT id, code, $6, $7, order_id, amount, 'ZAR', expires_at
       FROM unnest($1::uuid[], $2::text[], $3::text[], $4::bigint[], $5::timestamptz[]) AS n(id, code, order_id, amount, expires_at)
     ON CONFLICT (session_id) DO UPDATE SET code = excluded.code, merchant_id = excluded.merchant_id, site_id = excluded.site_id,
       merchant_order_id = excluded.merchant_order_id, amount = excluded.amount, currency = excluded.currency, expires_at = excluded.expires_at
      WHERE c.code IS NULL`,
    [
      sessions.map(({ payableId }) => payableId),
      sessions.map(({ code }) => code),
      sessions.map(({ merchantOrderId }) => merchantOrderId),
      sessions.map(({ amount }) => amount),
      sessions.map(({ expiresAt }) => expiresAt),
      MERCHANT_ID,
      SITE_ID,
    ],
  );
}

export async function closeCodes(query: Query, payments: PaymentSnapshot[]): Promise<void> {
  await query(
    'close codes',
    `INSERT INTO code_decoder.session_codes AS c (session_id, closed_at) SELECT DISTINCT id, now() FROM unnest($1::uuid[]) AS n(id)
     ON CONFLICT (session_id) DO UPDATE SET closed_at = excluded.closed_at WHERE c.closed_at IS NULL`,
    [payments.map(({ sessionId }) => sessionId)],
  );
}

/** The row of the site is locked until the commit, so that positions become visible in order. */
export async function storePayments(query: Query, payments: PaymentSnapshot[]): Promise<void> {
  await query(
    'store payments',
    `WITH payment AS (
       SELECT * FROM unnest($1::text[], $2::uuid[], $3::timestamptz[], $4::text[], $5::bigint[], $6::text[])
         WITH ORDINALITY AS n(reference, session_id, at, order_id, amount, body, nth)
     ), stored AS (
       INSERT INTO merchant_retrieval.payments SELECT reference, at, 3, $7, $8, 1, session_id, order_id, 'ZAR', amount FROM payment
       ON CONFLICT DO NOTHING
     ), newest AS (
       INSERT INTO merchant_retrieval.notification_positions AS p VALUES ($7, $8, cardinality($1))
       ON CONFLICT (merchant_id, site_id) DO UPDATE SET newest = p.newest + cardinality($1) RETURNING newest
     )
     INSERT INTO merchant_retrieval.notifications
     SELECT reference, $7, $8, newest - cardinality($1) + nth, body, now() FROM payment CROSS JOIN newest
     ON CONFLICT DO NOTHING`,
    [
      payments.map(({ paymentReference }) => paymentReference),
      payments.map(({ sessionId }) => sessionId),
      payments.map(({ paymentUTCDate }) => paymentUTCDate),
      payments.map(({ request }) => request['merchantOrderId']),
      payments.map(({ amount }) => amount),
      payments.map((payment) => JSON.stringify(payment)),
      MERCHANT_ID,
      SITE_ID,
    ],
  );
}

/** Appends a seal over the new transfers, with the hash of the previous seal. */
export async function sealLedger(query: Query): Promise<void> {
  await query(
    'seal ledger',
    `WITH last AS (
       SELECT * FROM payment_processor.ledger_seals ORDER BY seal_number DESC LIMIT 1
     ), next AS (
       SELECT t.txid, t.position, t.transfer_id, sha256(convert_to(t::text, 'UTF8')) AS hash
         FROM last CROSS JOIN LATERAL (
           SELECT * FROM payment_processor.transfers
            WHERE (txid, position) > (last.last_txid, last.last_position) AND txid < pg_snapshot_xmin(pg_current_snapshot())
            ORDER BY txid, position LIMIT 5000) AS t
     )
     INSERT INTO payment_processor.ledger_seals
     SELECT seal_number + 1, last.hash, sha256(last.hash || string_agg(next.hash, ''::bytea ORDER BY txid, position)),
            (array_agg(txid ORDER BY txid DESC, position DESC))[1], (array_agg(position ORDER BY txid DESC, position DESC))[1],
            array_agg(transfer_id ORDER BY txid, position), array_agg(next.hash ORDER BY txid, position)
       FROM last CROSS JOIN next GROUP BY seal_number, last.hash`,
    [],
  );
}
