/** The tables of the limits against card testing (P11). */
export const VELOCITY = `
  -- The fill factor leaves space for new versions of a row, because a payment changes its counters twice.
  CREATE TABLE velocity_counters (
    counter_key  text          COLLATE "C" PRIMARY KEY CONSTRAINT velocity_counters_key CHECK (counter_key ~ '^(card|range|address|organisation|site):[A-Za-z0-9_:-]{1,60}$'),
    in_flight    uuid[]        NOT NULL CONSTRAINT velocity_counters_in_flight CHECK (cardinality(in_flight) <= 200),
    declined_at  timestamptz[] NOT NULL CONSTRAINT velocity_counters_declined_at CHECK (cardinality(declined_at) <= 100),
    approvals    int[]         NOT NULL,
    declined_cards int[]       NOT NULL,
    reset_at     timestamptz,
    closed_until timestamptz,
    expires_at   timestamptz   NOT NULL,
    CONSTRAINT velocity_counters_approvals CHECK (cardinality(approvals) = cardinality(declined_at)),
    CONSTRAINT velocity_counters_declined_cards CHECK (cardinality(declined_cards) = cardinality(declined_at))
  ) WITH (fillfactor = 70);
  COMMENT ON TABLE velocity_counters IS 'Payments in flight and declines of a card, a number range, a payer''s address, a partner or a site, for the limits against card testing (P11). Cards, ranges and addresses are keyed hashes. An approved card without declines has no row.';
  COMMENT ON COLUMN velocity_counters.in_flight IS 'Payments without an outcome. The id of a payment contains the time of its acceptance.';
  COMMENT ON COLUMN velocity_counters.declined_at IS 'The newest declines, at most 100.';
  COMMENT ON COLUMN velocity_counters.approvals IS 'For each decline: the approvals since the decline before, as the replica that settled the decline has counted them.';
  COMMENT ON COLUMN velocity_counters.declined_cards IS 'For each decline: a part of the hash of the card, so that a card counts once a day for its range, address, partner and site.';
  COMMENT ON COLUMN velocity_counters.reset_at IS 'Approval of the card, after which the declines of the day count from 0.';
  COMMENT ON COLUMN velocity_counters.closed_until IS 'The card must not be tried again, or an administrator has blocked the range or address.';
  COMMENT ON COLUMN velocity_counters.expires_at IS 'When the row means nothing any more, and is deleted.';

  CREATE TABLE velocity_policies (
    merchant_id bigint      NOT NULL,
    mode        text        NOT NULL CONSTRAINT velocity_policies_mode CHECK (mode IN ('test', 'live')),
    version     bigint      NOT NULL CONSTRAINT velocity_policies_version CHECK (version > 0),
    enabled     boolean     NOT NULL,
    limits      jsonb       NOT NULL CONSTRAINT velocity_policies_limits CHECK (jsonb_typeof(limits) = 'object' AND NOT limits @? '$.* ? (@ < 1 || @ > 100)'),
    set_at      timestamptz NOT NULL,
    set_by      text        NOT NULL CONSTRAINT velocity_policies_set_by CHECK (length(set_by) BETWEEN 1 AND 100),
    PRIMARY KEY (merchant_id, mode, version)
  );
  COMMENT ON TABLE velocity_policies IS 'Limits of merchants against card testing that differ from the defaults, as set by administrators. Each change inserts a row. The newest row applies.';
  COMMENT ON COLUMN velocity_policies.limits IS 'Only the limits that differ from the defaults: numbers of declines.';

  CREATE TABLE attacked_sites (
    mode        text        NOT NULL CONSTRAINT attacked_sites_mode CHECK (mode IN ('test', 'live')),
    site_id     bigint      NOT NULL,
    merchant_id bigint      NOT NULL,
    level       int         NOT NULL CONSTRAINT attacked_sites_level CHECK (level BETWEEN 0 AND 3),
    ends_at     timestamptz NOT NULL,
    version     bigint      NOT NULL CONSTRAINT attacked_sites_version CHECK (version > 0),
    modified_at timestamptz NOT NULL,
    PRIMARY KEY (mode, site_id)
  );
  COMMENT ON TABLE attacked_sites IS 'Sites at which stolen cards are or were tested (P11). The level ends at ends_at without another change.';
  COMMENT ON COLUMN attacked_sites.version IS 'aggregateVersion of the event of the last change.';
  CREATE INDEX attacked_sites_now ON attacked_sites (ends_at);
`;
