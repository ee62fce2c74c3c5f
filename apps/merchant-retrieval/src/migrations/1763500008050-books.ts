import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * For reconciliation: an index for the payments of a day, and a function that parses the body of a notification without
 * failing on invalid JSON.
 */
export class Books1763500008050 implements MigrationInterface {
  readonly name = 'Books1763500008050';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      SET LOCAL statement_timeout = '30min';
      CREATE INDEX payments_by_date ON payments USING brin (payment_utc_date) WITH (pages_per_range = 32, autosummarize = on);
      CREATE FUNCTION notification_json(body text) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $$
      DECLARE json jsonb;
      BEGIN
        json := body::jsonb;
        RETURN CASE jsonb_typeof(json) WHEN 'object' THEN json ELSE jsonb_build_object('body', body) END;
      EXCEPTION WHEN data_exception THEN
        RETURN jsonb_build_object('body', body);
      END $$;
      COMMENT ON FUNCTION notification_json IS
        'Parses the body of a notification. If it is not a JSON object, returns an object that contains the text.';
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations go forward only.'));
  }
}
