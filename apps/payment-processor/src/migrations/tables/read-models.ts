export const READ_MODELS = `
  CREATE TABLE known_merchants (
    merchant_id    bigint PRIMARY KEY,
    name           text   NOT NULL,
    features       jsonb  NOT NULL,
    grants         jsonb  NOT NULL,
    minimum_amount bigint NOT NULL CONSTRAINT known_merchants_minimum_amount CHECK (minimum_amount BETWEEN 1 AND 100000000000),
    maximum_amount bigint CONSTRAINT known_merchants_maximum_amount CHECK (maximum_amount BETWEEN 1 AND 100000000000),
    fees           jsonb  NOT NULL CONSTRAINT known_merchants_fees CHECK (NOT fees @? '$.*.basisPoints ? (@ < 0 || @ > 1000)' AND NOT fees @? '$.*.fixedAmount ? (@ < 0 || @ > 10000)'),
    version        bigint NOT NULL,
    time_zones     jsonb  NOT NULL DEFAULT '[{"zone": "Africa/Johannesburg"}]'
      CONSTRAINT known_merchants_time_zones CHECK (jsonb_typeof(time_zones) = 'array' AND jsonb_array_length(time_zones) BETWEEN 1 AND 100)
  );
  COMMENT ON TABLE known_merchants IS 'Read model of merchants: the options of payers, the partners that may report vouchers and external payments (P6), the fees (M5), and the time zones of days (M7). Only events of identity change it.';
  COMMENT ON COLUMN known_merchants.minimum_amount IS 'With the feature amount.editable, payers may pay less than the amount due, but not less than this minimum (P6).';
  COMMENT ON COLUMN known_merchants.maximum_amount IS 'With the feature amount.editable, payers may pay more than the amount due, but not more than this maximum (P6). NULL means ten times the amount due, but at most R 50 000.';
  COMMENT ON COLUMN known_merchants.fees IS 'Fee of a card payment, for each mode: basis points of the processed amount, plus a fixed amount (M5).';

  CREATE TABLE known_sites (
    site_id        bigint PRIMARY KEY,
    merchant_id    bigint NOT NULL,
    site_reference text   NOT NULL,
    version        bigint NOT NULL
  );
  COMMENT ON TABLE known_sites IS 'Read model of the tills and web shops of merchants, with the references that identity gave them. Only events of identity change it.';

  CREATE TABLE known_api_keys (
    key_id      uuid    PRIMARY KEY,
    kind        text    NOT NULL CONSTRAINT known_api_keys_kind CHECK (kind IN ('merchant', 'site')),
    mode        text    NOT NULL CONSTRAINT known_api_keys_mode CHECK (mode IN ('test', 'live')),
    merchant_id bigint  NOT NULL,
    site_id     bigint,
    hash        text    NOT NULL CONSTRAINT known_api_keys_hash_form CHECK (hash ~ '^[0-9a-f]{64}$'),
    revoked     boolean NOT NULL,
    version     bigint  NOT NULL,
    CONSTRAINT known_api_keys_site CHECK ((kind = 'site') = (site_id IS NOT NULL))
  );
  CREATE UNIQUE INDEX known_api_keys_hash ON known_api_keys (hash);
  COMMENT ON TABLE known_api_keys IS 'Read model of the API keys of merchants and sites, which call this service for refunds (A6). Only events of identity change it.';

  CREATE TABLE known_customers (
    organisation_id    uuid   NOT NULL,
    mode               text   NOT NULL CONSTRAINT known_customers_mode CHECK (mode IN ('test', 'live')),
    customer_reference uuid   NOT NULL,
    first_name         text   NOT NULL CONSTRAINT known_customers_first_name CHECK (length(first_name) <= 100),
    last_name          text   NOT NULL CONSTRAINT known_customers_last_name CHECK (length(last_name) <= 100),
    version            bigint NOT NULL CONSTRAINT known_customers_version CHECK (version > 0),
    PRIMARY KEY (organisation_id, mode, customer_reference)
  );
  COMMENT ON TABLE known_customers IS 'Read model of the names of the customers of partners, for their payments. Only events of identity change it.';
`;
