/**
 * The statements for the book `ledger`: the expected and the stored transfers of a range. The time of a transfer is the
 * time at which the payment or refund became final, the dispute was booked, or the line of a settlement report was stored. No row is open (not compared), because the same transaction stores
 * the outcome and its transfers. The comparison covers only accounts and amounts. The command `ledger verify` detects
 * any change of a row.
 */
// Accounts of the ledger (see docs/architecture.md). The merchant's payable is what the service owes the merchant.
const RECEIVABLE = `y.mode || ':acquirer:' || a.acquirer || ':receivable'`;
const PAYABLE = `y.mode || ':merchant:' || y.merchant_id || ':payable'`;
const REVERSALS = `y.mode || ':acquirer:' || a.acquirer || ':reversals'`;
const LINE = `jsonb_build_object('kind', kind, 'debit', debit, 'credit', credit, 'amount', amount, 'currency', currency) AS line`;

const MOVEMENTS = `
  SELECT y.mode, y.merchant_id, p.payment_reference || ' ' || moved.kind AS key, moved.kind, moved.debit, moved.credit, moved.amount, y.currency
    FROM payments p JOIN payables y ON y.payable_id = p.payable_id
    LEFT JOIN attempts a ON a.payment_id = p.payment_id AND a.state = 'approved'
   CROSS JOIN LATERAL (
     SELECT 'capture' AS kind, ${RECEIVABLE} AS debit, ${PAYABLE} AS credit, p.processed_amount AS amount
      WHERE p.method_type <> 'External' AND p.processed_amount > 0
     UNION ALL
     SELECT 'fee', ${PAYABLE}, y.mode || ':service:fees', fee.amount
       FROM (SELECT (p.processed_amount * p.fee_basis_points + 5000) / 10000 + p.fee_fixed_amount AS amount) AS fee
      WHERE p.method_type <> 'External' AND p.processed_amount > 0 AND fee.amount > 0
     UNION ALL
     SELECT 'external', y.mode || ':organisation:' || (p.partner #>> '{partner,organisationId}') || ':receivable', ${PAYABLE}, p.processed_amount
      WHERE p.method_type = 'External' AND p.processed_amount > 0
     UNION ALL
     SELECT 'voucher',
            CASE WHEN (voucher ->> 'merchantLiable')::boolean THEN y.mode || ':merchant:' || y.merchant_id || ':vouchers' ELSE y.mode || ':service:vouchers' END,
            CASE WHEN (voucher ->> 'merchantLiable')::boolean THEN y.mode || ':merchant:' || y.merchant_id || ':redeemed' ELSE ${PAYABLE} END,
            (voucher ->> 'amount')::bigint
       FROM jsonb_array_elements(p.partner -> 'vouchers') AS voucher) AS moved
   WHERE p.modified_at >= $1 AND p.modified_at < $2 AND p.state = 'success'
  UNION ALL
  SELECT y.mode, y.merchant_id, p.payment_reference || ' refund ' || r.refund_id, 'refund', ${PAYABLE}, ${RECEIVABLE}, r.amount, y.currency
    FROM refunds r JOIN payments p ON p.payment_id = r.payment_id JOIN payables y ON y.payable_id = p.payable_id
    JOIN attempts a ON a.attempt_id = r.attempt_id
   WHERE r.ended_at >= $1 AND r.ended_at < $2 AND (r.state = 'succeeded' OR r.returned_at IS NOT NULL)
  UNION ALL
  SELECT y.mode, y.merchant_id, p.payment_reference || ' refundReturn ' || r.refund_id, 'refundReturn', ${RECEIVABLE}, ${PAYABLE}, r.amount, y.currency
    FROM refunds r JOIN payments p ON p.payment_id = r.payment_id JOIN payables y ON y.payable_id = p.payable_id
    JOIN attempts a ON a.attempt_id = r.attempt_id
   WHERE r.returned_at >= $1 AND r.returned_at < $2
  UNION ALL
  SELECT y.mode, y.merchant_id, p.payment_reference || ' ' || moved.kind || ' ' || a.attempt_id, moved.kind, moved.debit, moved.credit, moved.amount, y.currency
    FROM captures c JOIN attempts a ON a.attempt_id = c.attempt_id
    JOIN payments p ON p.payment_id = c.payment_id JOIN payables y ON y.payable_id = p.payable_id
   CROSS JOIN LATERAL (
     SELECT 'reversal' AS kind, ${PAYABLE} AS debit, ${RECEIVABLE} AS credit, c.amount
     UNION ALL
     SELECT 'feeReversal', y.mode || ':service:fees', ${PAYABLE}, fee.amount
       FROM (SELECT (c.amount * p.fee_basis_points + 5000) / 10000 + p.fee_fixed_amount AS amount) AS fee
      WHERE fee.amount > 0) AS moved
   WHERE c.state = 'failed' AND c.ended_at >= $1 AND c.ended_at < $2
  UNION ALL
  SELECT y.mode, y.merchant_id, p.payment_reference || ' ' || moved.kind || ' ' || r.report_id, moved.kind,
         CASE moved.kind WHEN 'dispute' THEN ${PAYABLE} ELSE ${RECEIVABLE} END,
         CASE moved.kind WHEN 'dispute' THEN ${RECEIVABLE} ELSE ${PAYABLE} END, r.amount, y.currency
    FROM dispute_reports r JOIN disputes d ON d.dispute_id = r.dispute_id
   CROSS JOIN LATERAL (SELECT CASE r.kind WHEN 'reversed' THEN 'disputeReversal' ELSE 'dispute' END AS kind) AS moved
    JOIN attempts a ON a.attempt_id = d.attempt_id
    JOIN payments p ON p.payment_id = a.payment_id JOIN payables y ON y.payable_id = p.payable_id
   WHERE r.booked_at >= $1 AND r.booked_at < $2
  UNION ALL
  SELECT l.mode, l.merchant_id, concat_ws(' ', p.payment_reference, moved.kind, l.line_id), moved.kind,
         CASE WHEN moved.amount > 0 THEN moved.target ELSE moved.receivable END,
         CASE WHEN moved.amount > 0 THEN moved.receivable ELSE moved.target END, abs(moved.amount), l.currency
    FROM settlement_lines l LEFT JOIN payments p ON p.payment_id = l.payment_id
   CROSS JOIN LATERAL (
     SELECT CASE l.kind WHEN 'payout' THEN 'acquirerPayout' ELSE 'acquirerFee' END AS kind,
            CASE l.kind WHEN 'payout' THEN -l.net_amount ELSE l.fee_amount END AS amount,
            l.mode || CASE l.kind WHEN 'payout' THEN ':service:bank' ELSE ':acquirer:' || l.acquirer || ':fees' END AS target,
            l.mode || ':acquirer:' || l.acquirer || ':receivable' AS receivable) AS moved
   WHERE l.stored_at >= $1 AND l.stored_at < $2 AND moved.amount <> 0 AND l.currency IS NOT NULL
  UNION ALL
  SELECT y.mode, y.merchant_id, p.payment_reference || ' ' || moved.kind || ' ' || a.attempt_id, moved.kind,
         CASE moved.kind WHEN 'lateApproval' THEN ${RECEIVABLE} ELSE ${REVERSALS} END,
         CASE moved.kind WHEN 'lateApproval' THEN ${REVERSALS} ELSE ${RECEIVABLE} END, p.amount - p.voucher_amount + p.tip_amount, y.currency
    FROM (SELECT 'lateApproval' AS kind, attempt_id FROM reversals WHERE holds_money AND requested_at >= $1 AND requested_at < $2
          UNION ALL
          SELECT 'reversal', attempt_id FROM reversals WHERE holds_money AND found_charge AND confirmed_at >= $1 AND confirmed_at < $2) AS moved
    JOIN attempts a ON a.attempt_id = moved.attempt_id
    JOIN payments p ON p.payment_id = a.payment_id JOIN payables y ON y.payable_id = p.payable_id
  UNION ALL
  SELECT f.mode, f.merchant_id, f.payment_reference || ' ' || moved.kind || ' ' || f.charge_id, moved.kind,
         CASE moved.kind WHEN 'lateApproval' THEN account.receivable ELSE account.reversals END,
         CASE moved.kind WHEN 'lateApproval' THEN account.reversals ELSE account.receivable END, f.amount, f.currency
    FROM (SELECT 'lateApproval' AS kind, charge_id FROM forgotten_charges WHERE found_at >= $1 AND found_at < $2
          UNION ALL
          SELECT 'reversal', charge_id FROM forgotten_charges WHERE reversed_at >= $1 AND reversed_at < $2) AS moved
    JOIN forgotten_charges f ON f.charge_id = moved.charge_id
   CROSS JOIN LATERAL (SELECT f.mode || ':acquirer:' || f.acquirer || ':receivable' AS receivable,
                              f.mode || ':acquirer:' || f.acquirer || ':reversals' AS reversals) AS account`;

export const EXPECTED_LEDGER = `SELECT mode, merchant_id, key, amount, false AS open, ${LINE} FROM (${MOVEMENTS}) AS movement`;

export const LEDGER_BOOK = `
  SELECT mode, merchant_id, key, amount, false AS open, ${LINE}
    FROM (SELECT t.mode, t.merchant_id, t.kind, t.debit_account AS debit, t.credit_account AS credit, t.amount, t.currency,
                 concat_ws(' ', coalesce(p.payment_reference, t.payment_id::text, f.payment_reference), t.kind, t.refund_id, t.dispute_report_id,
                           t.attempt_id, t.settlement_line_id, t.forgotten_charge_id) AS key
            FROM transfers t LEFT JOIN payments p ON p.payment_id = t.payment_id
            LEFT JOIN forgotten_charges f ON f.charge_id = t.forgotten_charge_id
           WHERE t.created_at >= $1 AND t.created_at < $2) AS transfer`;
