/**
 * The database role of the service may only insert into the ledger, even if the ledger's triggers are disabled (ADR
 * 45).
 */
import { buildPayable } from '../../test/builders.js';
import { type Processor, startProcessor } from '../../test/processor.js';

let processor: Processor;
beforeAll(async () => {
  processor = await startProcessor();
  await processor.pay(buildPayable());
  // Without triggers, only privileges protect the ledger.
  await processor.superuser.query('ALTER TABLE transfers DISABLE TRIGGER USER');
});
afterAll(() => processor.stop());

test.each([
  `UPDATE transfers SET amount = 1`,
  `DELETE FROM transfers`,
  `TRUNCATE transfers`,
  `SELECT 1 FROM transfers FOR UPDATE`,
  `UPDATE event_log SET payload = '{}'`,
  `DELETE FROM event_log`,
  `DELETE FROM event_log_default`,
  `DELETE FROM event_log_2026_03`,
  `CREATE TABLE more (id int)`,
  `CREATE FUNCTION more() RETURNS int LANGUAGE sql AS 'SELECT 1'`,
])('the privileges of the service do not allow the statement %s', async (statement) => {
  await expect(processor.dataSource.query(statement)).rejects.toThrow(/^permission denied for (table|schema) /);
});

test.each([
  `ALTER TABLE transfers DISABLE TRIGGER USER`,
  `ALTER TABLE transfers DROP CONSTRAINT transfers_amount`,
  `ALTER TABLE transfers OWNER TO CURRENT_USER`,
  `DROP TABLE transfers`,
  `DROP TRIGGER transfers_append_only ON transfers`,
  `CREATE OR REPLACE FUNCTION refuse_ledger_change() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`,
  `SELECT run_as_owner('revoke_from_others(regclass, text)')`,
])('the statement %s is rejected, because the service does not own the tables', async (statement) => {
  await expect(processor.dataSource.query(statement)).rejects.toThrow(
    /^(must be owner of|permission denied for schema)/,
  );
});

test('the service can neither become the owner nor grant itself privileges', async () => {
  await expect(processor.dataSource.query('SET ROLE tested_payment_processor_owner')).rejects.toThrow('set role');
  await expect(processor.dataSource.query('SET session_replication_role = replica')).rejects.toThrow(
    'permission denied',
  );
  await processor.dataSource.query('GRANT ALL ON transfers TO CURRENT_USER').catch(() => undefined);
  await expect(processor.dataSource.query('DELETE FROM transfers')).rejects.toThrow('permission denied');
});

test('the function that creates partitions with the owner’s privileges cannot create a partition of the ledger', async () => {
  await expect(
    processor.dataSource.query(`SELECT ensure_month_partitions('transfers', '2026-03-01', 1)`),
  ).rejects.toThrow(/ATTACH PARTITION|not partitioned/);
  const { rows } = await processor.superuser.query(`SELECT count(*)::int AS transfers FROM transfers`);
  expect(rows).toEqual([{ transfers: 1 }]);
});
