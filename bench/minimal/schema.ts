/**
 * Tables for the data that every implementation must store for a payment. The tables that reconcile.ts reads have the
 * same names as those of the platform.
 */
export const SCHEMA = `
  CREATE SCHEMA gateway; CREATE SCHEMA payment_processor; CREATE SCHEMA dispatcher; CREATE SCHEMA code_decoder; CREATE SCHEMA merchant_retrieval;

  CREATE TABLE gateway.sessions (
    session_id uuid PRIMARY KEY, request_id text NOT NULL UNIQUE, request jsonb NOT NULL, amount bigint NOT NULL,
    state text NOT NULL, version bigint NOT NULL, expires_at timestamptz NOT NULL);
  CREATE TABLE gateway.hosted_payments (payment_reference text PRIMARY KEY, session_id uuid NOT NULL, snapshot jsonb NOT NULL, version bigint NOT NULL);
  CREATE INDEX ON gateway.hosted_payments (session_id);

  CREATE TABLE payment_processor.payables (payable_id uuid PRIMARY KEY, amount bigint NOT NULL, state text NOT NULL, holder uuid, version bigint NOT NULL);
  CREATE TABLE payment_processor.payments (
    payment_id uuid PRIMARY KEY, payable_id uuid NOT NULL REFERENCES payment_processor.payables, reference uuid NOT NULL,
    payment_reference text NOT NULL UNIQUE, state text NOT NULL, amount bigint NOT NULL, accepted_at timestamptz NOT NULL,
    modified_at timestamptz NOT NULL, UNIQUE (payable_id, reference));
  CREATE TABLE payment_processor.attempts (
    attempt_id uuid PRIMARY KEY, payment_id uuid NOT NULL REFERENCES payment_processor.payments, state text NOT NULL,
    acquirer_reference text, started_at timestamptz NOT NULL, next_query_at timestamptz);
  CREATE INDEX ON payment_processor.attempts (next_query_at) WHERE next_query_at IS NOT NULL;
  CREATE TABLE payment_processor.transfers (
    transfer_id uuid PRIMARY KEY, debit_account text NOT NULL, credit_account text NOT NULL, amount bigint NOT NULL,
    payment_id uuid NOT NULL UNIQUE REFERENCES payment_processor.payments, created_at timestamptz NOT NULL, kind text NOT NULL,
    txid xid8 NOT NULL DEFAULT pg_current_xact_id(), position bigint GENERATED ALWAYS AS IDENTITY);
  CREATE INDEX ON payment_processor.transfers (txid, position);
  CREATE TABLE payment_processor.ledger_seals (
    seal_number bigint PRIMARY KEY, previous_hash bytea NOT NULL, hash bytea NOT NULL, last_txid xid8 NOT NULL, last_position bigint NOT NULL,
    transfer_ids uuid[] NOT NULL, transfer_hashes bytea[] NOT NULL);
  INSERT INTO payment_processor.ledger_seals VALUES (0, '', '', '0', 0, '{}', '{}');

  CREATE TABLE dispatcher.notifications (
    id uuid PRIMARY KEY, payment_reference text NOT NULL UNIQUE, url text NOT NULL, fields jsonb NOT NULL, state text NOT NULL,
    leased_until timestamptz, next_attempt_at timestamptz);
  CREATE INDEX ON dispatcher.notifications (next_attempt_at) WHERE state = 'pending';
  CREATE TABLE dispatcher.delivery_attempts (
    notification_id uuid NOT NULL REFERENCES dispatcher.notifications, try int NOT NULL, started_at timestamptz NOT NULL,
    status_code int NOT NULL, PRIMARY KEY (notification_id, try));

  CREATE TABLE code_decoder.session_codes (
    session_id uuid PRIMARY KEY, code text UNIQUE, merchant_id bigint, site_id bigint, merchant_order_id text, amount bigint, currency text,
    expires_at timestamptz, closed_at timestamptz) WITH (fillfactor = 65);
  CREATE TABLE merchant_retrieval.payments (
    payment_reference text PRIMARY KEY, payment_utc_date timestamptz NOT NULL, version bigint NOT NULL, merchant_id bigint NOT NULL,
    site_id bigint NOT NULL, status smallint NOT NULL, invoice_reference text NOT NULL, external_reference text NOT NULL, currency text NOT NULL,
    amount bigint NOT NULL);
  CREATE INDEX ON merchant_retrieval.payments (merchant_id, invoice_reference);
  CREATE INDEX ON merchant_retrieval.payments (merchant_id, external_reference, payment_utc_date);
  CREATE TABLE merchant_retrieval.notifications (
    payment_reference text PRIMARY KEY, merchant_id bigint NOT NULL, site_id bigint NOT NULL, position bigint NOT NULL, body text NOT NULL,
    stored_at timestamptz NOT NULL, UNIQUE (merchant_id, site_id, position));
  CREATE INDEX ON merchant_retrieval.notifications (stored_at);
  CREATE TABLE merchant_retrieval.notification_positions (
    merchant_id bigint, site_id bigint, newest bigint NOT NULL, PRIMARY KEY (merchant_id, site_id)) WITH (fillfactor = 50);

  ${['gateway', 'payment_processor']
    .map(
      (schema) => `
        CREATE TABLE ${schema}.event_log (
          position bigserial, txid xid8 NOT NULL DEFAULT pg_current_xact_id(), id uuid NOT NULL, type text NOT NULL, payload jsonb NOT NULL);
        CREATE INDEX ON ${schema}.event_log (txid, position);
        CREATE TABLE ${schema}.relay_cursor (txid xid8 NOT NULL, position bigint NOT NULL);
        INSERT INTO ${schema}.relay_cursor VALUES ('0', 0);`,
    )
    .join('\n')}
`;
