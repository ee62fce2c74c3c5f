/**
 * The acquirer's statement against attempts and refunds. Of a charge, `at` is the start of its attempt; of a reversal or refund,
 * when it was confirmed: the statement's own date may be another day's, so {@link KEEP_LINES} replaces it wherever the movement
 * is known. A movement that nobody here knows keeps the acquirer's date.
 */
const LINE = `jsonb_build_object('kind', kind, 'acquirer', acquirer, 'account', account, 'paymentReference', payment_reference,
    'acquirerReference', acquirer_reference, 'amount', amount, 'currency', currency)`;

/** The third parameter is the watermark. What was taken is the part that vouchers did not cover. */
const MOVEMENTS = `
  SELECT y.mode, y.merchant_id, y.currency, p.payment_reference, a.acquirer, a.account, a.attempt_id AS idempotency_key, moved.kind,
         p.amount - p.voucher_amount + p.tip_amount AS amount,
         CASE WHEN a.state = 'approved' THEN a.acquirer_reference END AS acquirer_reference,
         moved.at IS NULL OR moved.at >= $3::timestamptz OR a.state IN ('started', 'unknown', 'reversing') AS open
    FROM (SELECT 'charge' AS kind, attempt_id, ended_at AS at FROM attempts a
           WHERE started_at >= $1 AND started_at < $2
             AND (state IN ('approved', 'reversed', 'started', 'unknown', 'reversing')
                  OR EXISTS (SELECT FROM reversals late WHERE late.attempt_id = a.attempt_id))
          UNION ALL
          SELECT 'reversal', attempt_id, confirmed_at FROM reversals WHERE confirmed_at >= $1 AND confirmed_at < $2
          UNION ALL
          SELECT 'reversal', attempt_id, ended_at FROM attempts a
           WHERE state = 'reversed' AND ended_at >= $1 AND ended_at < $2
             AND NOT EXISTS (SELECT FROM reversals late WHERE late.attempt_id = a.attempt_id)) AS moved
    JOIN attempts a ON a.attempt_id = moved.attempt_id
    JOIN payments p ON p.payment_id = a.payment_id JOIN payables y ON y.payable_id = p.payable_id
  UNION ALL
  SELECT y.mode, y.merchant_id, y.currency, p.payment_reference, a.acquirer, a.account, r.refund_id, 'refund', r.amount, r.acquirer_reference,
         r.ended_at >= $3
    FROM refunds r JOIN attempts a ON a.attempt_id = r.attempt_id
    JOIN payments p ON p.payment_id = r.payment_id JOIN payables y ON y.payable_id = p.payable_id
   WHERE r.ended_at >= $1 AND r.ended_at < $2 AND r.state = 'succeeded'`;

export const EXPECTED_STATEMENT = `
  SELECT mode, merchant_id, payment_reference || ' ' || kind || ' ' || idempotency_key AS key, amount, open,
         CASE WHEN NOT open THEN ${LINE} END AS line
    FROM (${MOVEMENTS}) AS movement`;

/** The third parameter is the run that has kept the lines. */
export const STATEMENT_BOOK = `
  SELECT mode, merchant_id, concat_ws(' ', payment_reference, kind, idempotency_key) AS key, amount, open,
         CASE WHEN NOT open THEN ${LINE} END AS line
    FROM statement_lines WHERE run_id = $3::uuid AND at >= $1 AND at < $2`;

/**
 * Keeps a page of a statement: `$1` the lines as JSON, `$2` the run, `$3` acquirer, `$4` account, `$5` mode, `$6` the merchant of
 * the account, `$7` and `$8` the day, `$9` the watermark, `$11` the run's tries: a replica whose run was taken over keeps nothing.
 * Rows are looked up by their primary keys.
 */
export const KEEP_LINES = `
  INSERT INTO statement_lines (run_id, at, mode, merchant_id, kind, idempotency_key, acquirer, account, acquirer_reference,
                               payment_reference, amount, currency, open)
  SELECT $2::uuid, known.at, $5::text, known.merchant_id, line.kind, line."idempotencyKey", $3::text, $4::text,
         CASE WHEN known.has_reference THEN line."acquirerReference" END, line."paymentReference", line.amount, line."currencyISOCode", known.open
    FROM jsonb_to_recordset($1::jsonb) AS line (kind text, "idempotencyKey" text, "acquirerReference" text, "paymentReference" text,
                                                amount bigint, "currencyISOCode" text, "movedUTCDate" timestamptz)
    LEFT JOIN attempts a ON line.kind <> 'refund' AND a.attempt_id = CASE WHEN line."idempotencyKey" ~* $10 THEN line."idempotencyKey"::uuid END
    LEFT JOIN reversals late ON late.attempt_id = a.attempt_id
    LEFT JOIN refunds r ON line.kind = 'refund' AND r.refund_id = CASE WHEN line."idempotencyKey" ~* $10 THEN line."idempotencyKey"::uuid END
    LEFT JOIN payments p ON p.payment_id = coalesce(a.payment_id, r.payment_id)
    LEFT JOIN payables y ON y.payable_id = p.payable_id
   CROSS JOIN LATERAL (
     SELECT coalesce(CASE WHEN line.kind = 'charge' THEN a.started_at
                          WHEN line.kind = 'reversal' AND late.attempt_id IS NOT NULL THEN late.confirmed_at
                          WHEN line.kind = 'reversal' AND a.state = 'reversed' THEN a.ended_at
                          ELSE r.ended_at END, line."movedUTCDate") AS at,
            coalesce(y.merchant_id, $6::bigint) AS merchant_id,
            coalesce(a.state = 'approved' OR a.attempt_id IS NULL, true) AS has_reference,
            coalesce(a.state IN ('started', 'unknown', 'reversing') OR a.ended_at >= $9::timestamptz OR line."movedUTCDate" >= $9
                     OR (line.kind = 'reversal' AND late.attempt_id IS NOT NULL AND (late.confirmed_at IS NULL OR late.confirmed_at >= $9))
                     OR r.state = 'pending' OR r.ended_at >= $9, false) AS open) AS known
   WHERE known.at >= $7::timestamptz AND known.at < $8::timestamptz
     AND EXISTS (SELECT FROM reconciliations WHERE run_id = $2 AND tries = $11::int)`;
