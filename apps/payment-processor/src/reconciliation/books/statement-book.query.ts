/**
 * The statements for the book `acquirer`: the expected and the stored lines of the acquirer's statement. `at` is the
 * start of the attempt for a charge, and the time of the confirmation for a reversal or refund. The date on the
 * acquirer's statement may be another day, so StatementRepository replaces that date by `at`. Only a line without an
 * attempt or refund keeps the acquirer's date.
 */
const LINE = `jsonb_build_object('kind', kind, 'acquirer', acquirer, 'account', account, 'paymentReference', payment_reference,
    'acquirerReference', acquirer_reference, 'amount', amount, 'currency', currency)`;

/**
 * The third parameter is the watermark. The charged amount excludes the amount that vouchers cover. The time `at` is
 * NULL while a charge has no outcome.
 */
const MOVEMENTS = `
  SELECT y.mode, y.merchant_id, y.currency, p.payment_reference, a.acquirer, a.account, a.attempt_id AS idempotency_key, moved.kind,
         p.amount - p.voucher_amount + p.tip_amount AS amount,
         CASE WHEN a.state = 'approved' THEN a.acquirer_reference END AS acquirer_reference,
         moved.at IS NULL OR moved.at >= $3::timestamptz AS open
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

/** The third parameter is the id of the run that has stored the lines. */
export const STATEMENT_BOOK = `
  SELECT mode, merchant_id, concat_ws(' ', payment_reference, kind, idempotency_key) AS key, amount, open,
         CASE WHEN NOT open THEN ${LINE} END AS line
    FROM statement_lines WHERE run_id = $3::uuid AND at >= $1 AND at < $2`;
