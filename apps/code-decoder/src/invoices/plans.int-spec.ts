import { type Decoder, startDecoder } from '../../test/decoder.js';
import { InvoiceRepository } from './invoice.repository.js';

let decoder: Decoder;
beforeAll(async () => {
  decoder = await startDecoder();
});
afterAll(() => decoder.stop());

/** What PostgreSQL says it will do for a statement that this service runs, planned as this service has it planned. */
async function planOf(statement: () => Promise<unknown>): Promise<string> {
  const { dataSource } = decoder;
  const sent = jest.spyOn(dataSource, 'query');
  await statement();
  const [text, parameters] = sent.mock.calls.at(-1)!;
  sent.mockRestore();
  const runner = dataSource.createQueryRunner();
  try {
    await runner.query(`PREPARE looked_at AS ${text}`);
    const values = (parameters as unknown[]).map((value) =>
      value instanceof Date ? `'${value.toISOString()}'` : `'${String(value)}'`,
    );
    const rows = (await runner.query(`EXPLAIN EXECUTE looked_at(${values.join()})`)) as { 'QUERY PLAN': string }[];
    await runner.query('DEALLOCATE looked_at');
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  } finally {
    await runner.release();
  }
}

// Planned while the tables are empty, and never again: what is not in the index condition is read and thrown away.
test('a static code reads the open invoices of its till and no others', async () => {
  const invoices = decoder.service.app.get(InvoiceRepository);
  const plan = await planOf(() => invoices.findByTillCode('test', '0'.repeat(20)));
  expect(plan).toMatch(
    /using invoices_at_till on invoices i .*\n\s+Index Cond: \(\(site_id = .*\) AND \(mode = .*\) AND \(site_reference = .*\) AND \(expires_at > /,
  );
  expect(plan).not.toMatch(/Seq Scan/);
});

test('an externalReference is looked up among those of its site', async () => {
  const invoices = decoder.service.app.get(InvoiceRepository);
  const plan = await planOf(() => invoices.findByExternalReference({ merchantId: 1, siteId: 2, mode: 'test' }, 'x'));
  const byReference = 'Index Cond: \\(\\(site_id = .*\\) AND \\(mode = .*\\) AND \\(external_reference = ';
  expect(plan).toMatch(new RegExp(`using invoices_one_open on invoices i .*\\n\\s+${byReference}`));
  // Straight from the end of the index: sorted, it would read every invoice that ever had the reference.
  expect(plan).toMatch(
    new RegExp(
      `Limit .*\\n\\s+->  Index Scan Backward using invoices_by_external_reference on .*\\n\\s+${byReference}`,
    ),
  );
});
