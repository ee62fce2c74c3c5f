/**
 * The schema, one step for each release that changes it. A released step is never edited or undone. `PRAGMA
 * user_version` is the number of steps that have run.
 */
export const SCHEMA_STEPS: readonly string[] = [
  `
  CREATE TABLE baskets (
    basket_id INTEGER PRIMARY KEY AUTOINCREMENT,
    -- Random part of the URL of the basket's QR image. It must not be guessable, because the URL needs no API key.
    token TEXT NOT NULL UNIQUE,
    site_id INTEGER NOT NULL,
    -- The header x-till. Empty if the till sends none.
    till TEXT NOT NULL,
    -- 'lines' if the till sends the basket line by line, 'facade' if it sends whole baskets.
    dialect TEXT NOT NULL CHECK (dialect IN ('lines', 'facade')),
    -- The till's reference of the basket. NULL before the first total.
    reference TEXT,
    -- The externalReference of the basket's invoices on the platform. NULL before the first total.
    external_reference TEXT,
    state TEXT NOT NULL CHECK (state IN ('open', 'saved', 'reset', 'complete', 'void')),
    changed_at TEXT NOT NULL,
    CHECK ((reference IS NULL) = (external_reference IS NULL))
  ) STRICT;
  CREATE UNIQUE INDEX open_basket_of_lines ON baskets (site_id, till) WHERE dialect = 'lines' AND state = 'open';
  CREATE UNIQUE INDEX kept_basket_of_an_order ON baskets (site_id, till, reference)
    WHERE dialect = 'facade' AND state IN ('open', 'saved');
  CREATE UNIQUE INDEX kept_external_reference ON baskets (site_id, external_reference) WHERE state IN ('open', 'saved');
  CREATE INDEX baskets_by_reference ON baskets (reference, basket_id);
  CREATE INDEX baskets_of_a_till ON baskets (site_id, till, changed_at);

  CREATE TABLE lines (
    basket_id INTEGER NOT NULL REFERENCES baskets,
    line_id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    line TEXT NOT NULL,
    PRIMARY KEY (basket_id, line_id)
  ) STRICT, WITHOUT ROWID;

  -- The totals that tills requested. The newest total that was not refused is the current total of its basket.
  CREATE TABLE totals (
    total_id INTEGER PRIMARY KEY AUTOINCREMENT,
    basket_id INTEGER NOT NULL REFERENCES baskets,
    -- Cents. 0 or less if nothing is due.
    amount INTEGER NOT NULL,
    content TEXT NOT NULL,
    -- The request that creates the invoice. Every attempt sends the same text. NULL if nothing is due.
    request TEXT,
    -- The key of that request. It is stored before the first attempt, and every attempt sends it.
    idempotency_key TEXT,
    -- 1 if the till has changed the lines of the basket since this total. Then no screen shows the total or its code.
    withdrawn INTEGER NOT NULL DEFAULT 0 CHECK (withdrawn IN (0, 1)),
    state TEXT NOT NULL
      CHECK (state IN ('without-invoice', 'queued', 'open', 'replaced', 'closed', 'paid', 'refused')),
    invoice_reference TEXT UNIQUE,
    code TEXT,
    expires_at TEXT,
    created_at TEXT NOT NULL,
    -- When the invoice of this total was replaced or closed.
    ended_at TEXT,
    CHECK (state NOT IN ('queued', 'open') OR request IS NOT NULL),
    CHECK (state <> 'open' OR (invoice_reference IS NOT NULL AND code IS NOT NULL AND expires_at IS NOT NULL))
  ) STRICT;
  CREATE UNIQUE INDEX totals_by_idempotency_key ON totals (idempotency_key) WHERE idempotency_key IS NOT NULL;
  CREATE INDEX totals_of_a_basket ON totals (basket_id, total_id);
  CREATE INDEX open_totals ON totals (expires_at) WHERE state = 'open';
  CREATE INDEX ended_totals ON totals (ended_at) WHERE state IN ('replaced', 'closed');

  -- Every final payment of the configured sites, as the platform reported it.
  CREATE TABLE payments (
    payment_id INTEGER PRIMARY KEY AUTOINCREMENT,
    svc_id TEXT NOT NULL UNIQUE,
    site_id INTEGER NOT NULL,
    invoice_reference TEXT NOT NULL,
    -- NULL if no basket of this store is known to have the invoice. A payment belongs to a basket only by its invoice.
    basket_id INTEGER REFERENCES baskets,
    total_id INTEGER REFERENCES totals,
    payment TEXT NOT NULL,
    seen_at TEXT NOT NULL
  ) STRICT;
  CREATE INDEX payments_of_a_basket ON payments (basket_id) WHERE basket_id IS NOT NULL;
  CREATE INDEX payments_of_an_invoice ON payments (invoice_reference);

  CREATE TABLE refunds (
    refund_id INTEGER PRIMARY KEY AUTOINCREMENT,
    site_id INTEGER NOT NULL,
    svc_id TEXT NOT NULL,
    amount INTEGER NOT NULL CHECK (amount > 0),
    reference TEXT,
    idempotency_key TEXT NOT NULL UNIQUE,
    state TEXT NOT NULL CHECK (state IN ('queued', 'pending', 'succeeded', 'failed', 'refused')),
    refusal TEXT,
    -- The reference that the platform gave the refund.
    refund_reference TEXT UNIQUE,
    created_at TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX refund_of_a_reference ON refunds (site_id, reference) WHERE reference IS NOT NULL;
  CREATE INDEX refunds_of_a_payment ON refunds (svc_id, refund_id);
  CREATE INDEX pending_refunds ON refunds (site_id, refund_id) WHERE state = 'pending';

  -- The outbox of calls to the platform.
  CREATE TABLE outgoing_calls (
    call_id INTEGER PRIMARY KEY AUTOINCREMENT,
    site_id INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('create-invoice', 'close-invoice', 'refund')),
    -- The external reference of an invoice, or the payment of a refund. Calls of one subject are sent one by one.
    subject TEXT NOT NULL,
    basket_id INTEGER REFERENCES baskets,
    total_id INTEGER REFERENCES totals,
    refund_id INTEGER REFERENCES refunds,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'done', 'cancelled', 'refused')),
    -- Number of attempts. It is incremented before each attempt, so a call with 0 has never reached the platform.
    attempts INTEGER NOT NULL DEFAULT 0,
    -- Number of attempts to which the platform responded with an error. After an error only this call is delayed and
    -- retried, and other calls continue. An outage of the platform does not change this number. Pauses between attempts
    -- last for one run of the program, because a stored time would be wrong after the clock of the computer was set.
    failures INTEGER NOT NULL DEFAULT 0,
    problem TEXT
  ) STRICT;
  CREATE INDEX waiting_calls ON outgoing_calls (site_id, kind, call_id) WHERE state = 'waiting';
  CREATE INDEX waiting_calls_of_a_subject ON outgoing_calls (site_id, subject, call_id) WHERE state = 'waiting';
  CREATE INDEX calls_of_a_total ON outgoing_calls (total_id) WHERE total_id IS NOT NULL;
  CREATE INDEX calls_of_a_basket ON outgoing_calls (basket_id) WHERE basket_id IS NOT NULL;

  -- The id of the last event that was read from the payment stream of each site (M6).
  CREATE TABLE stream_positions (
    site_id INTEGER PRIMARY KEY,
    last_event_id TEXT NOT NULL
  ) STRICT;

  CREATE TABLE platform_time (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    -- The platform's time minus the time of the computer's clock.
    offset_ms INTEGER NOT NULL,
    -- Times from here on are estimates, which the first response of the platform corrects. NULL if there are none.
    estimated_since TEXT
  ) STRICT;
  INSERT INTO platform_time (only_row, offset_ms) VALUES (1, 0);

  -- Messages for the cashier about calls whose result no till waits for any more.
  CREATE TABLE alerts (
    alert_id INTEGER PRIMARY KEY AUTOINCREMENT,
    site_id INTEGER NOT NULL,
    till TEXT NOT NULL,
    at TEXT NOT NULL,
    message TEXT NOT NULL
  ) STRICT;
  CREATE INDEX alerts_of_a_till ON alerts (site_id, till, alert_id);
  `,
];
