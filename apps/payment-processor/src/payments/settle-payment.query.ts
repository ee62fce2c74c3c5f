import { statementWithEvents } from '@svc/messaging';
import { insertTransfersSql } from '../ledger/transfer.repository.js';
import { endInFlight, keptCounterKeys, lockCounters, LOCKED_FIRST } from '../velocity/counters/end-in-flight.query.js';

/** The values of `PaymentRepository.settle`, and their types in its statement. */
const SETTLEMENT_TYPES = {
  lock_order: 'uuid',
  attempt_id: 'uuid',
  from_states: 'text[]',
  known_version: 'bigint',
  attempt_state: 'text',
  acquirer_reference: 'text',
  acquirer_code: 'text',
  ended_at: 'timestamptz',
  payment_state: 'text',
  processed_amount: 'bigint',
  errors: 'jsonb',
  payable_state: 'text',
  payable_version: 'bigint',
  transfers: 'jsonb',
  velocity: 'jsonb',
};
export type SettlementValues = Readonly<Record<keyof typeof SETTLEMENT_TYPES, unknown>>;

const SETTLEMENT_COLUMNS = Object.entries(SETTLEMENT_TYPES)
  .map(([name, type]) => `${name} ${type}`)
  .join(', ');

/**
 * The statement of `PaymentRepository.settle`. The rows are found by key and locked first. Their states are
 * compared afterwards, because with a state in the search condition the planner could read a whole partial index.
 */
const SETTLE_WRITES = `${lockCounters('jsonb_to_recordset($items::jsonb) AS item(velocity jsonb)')}, locked AS (
         SELECT item.*, found.*
           FROM (SELECT item.* FROM jsonb_to_recordset($items::jsonb) AS item(${SETTLEMENT_COLUMNS})
                  CROSS JOIN ${LOCKED_FIRST} ORDER BY lock_order) item
          CROSS JOIN LATERAL (
            SELECT a.payment_id, a.acquirer, a.account, p.payable_id, a.state AS found_attempt, p.state AS found_payment, y.holder, y.version
              FROM attempts a JOIN payments p ON p.payment_id = a.payment_id JOIN payables y ON y.payable_id = p.payable_id
             WHERE a.attempt_id = item.attempt_id
               FOR UPDATE OF a, p, y) found
       ), target AS (
         SELECT * FROM locked
          WHERE found_attempt = ANY (from_states) AND found_payment = 'processing'
            AND holder = payment_id AND version = known_version
       ), attempt AS (
         UPDATE attempts a SET state = attempt_state, acquirer_reference = target.acquirer_reference,
                               acquirer_code = target.acquirer_code, ended_at = target.ended_at, next_query_at = NULL,
                               velocity_keys = ${keptCounterKeys('a.velocity_keys', 'attempt_state', 'payment_state')}
           FROM target WHERE a.attempt_id = target.attempt_id
       ), payment AS (
         UPDATE payments p SET state = payment_state, processed_amount = target.processed_amount, errors = target.errors,
                               modified_at = target.ended_at, version = p.version + 1
           FROM target WHERE p.payment_id = target.payment_id
       ), payable AS (
         UPDATE payables y SET state = payable_state, holder = CASE WHEN payable_state = 'paid' THEN y.holder END,
                               version = payable_version, modified_at = target.ended_at
           FROM target WHERE y.payable_id = target.payable_id
       ), transfer AS (
         ${insertTransfersSql('transfers', 'target')}
       ), ${endInFlight('target')}`;

const SETTLED = { changed: 'target', aggregateId: 'payment_id' };

export const SETTLE = statementWithEvents({ writes: SETTLE_WRITES, ...SETTLED });

/** For approvals of an acquirer that captures separately: the captures are due at once. */
export const SETTLE_WITH_CAPTURE = statementWithEvents({
  writes: `${SETTLE_WRITES}, capture AS (
         INSERT INTO captures (attempt_id, payment_id, amount, state, created_at, requests, key_number, next_request_at)
         SELECT attempt_id, payment_id, processed_amount, 'due', ended_at, 0, 1, ended_at FROM target
       )`,
  ...SETTLED,
});

/** For a charge that was abandoned: its reservation is released at the acquirer. */
export const SETTLE_WITH_RELEASE = statementWithEvents({
  writes: `${SETTLE_WRITES}, release AS (
         INSERT INTO reversals (attempt_id, requested_at, next_request_at, holds_money, approval_seen)
         SELECT attempt_id, ended_at, ended_at, false, false FROM target
       )`,
  ...SETTLED,
});

/** For a payment whose payer must first confirm it with the bank. */
export const SETTLE_WITH_VERIFICATION = statementWithEvents({
  writes: `${SETTLE_WRITES}, verification AS (
         INSERT INTO verifications (payment_id, acquirer, account, challenge_reference, challenge_url, expires_at, open)
         SELECT payment_id, acquirer, account, $reference, $url, $expiresAt::timestamptz, true FROM target
         ON CONFLICT (payment_id) DO UPDATE
            SET acquirer = excluded.acquirer, account = excluded.account, challenge_reference = excluded.challenge_reference, challenge_url = excluded.challenge_url,
                expires_at = excluded.expires_at, open = true, result = NULL, queried_at = NULL, next_query_at = NULL
       )`,
  ...SETTLED,
});
