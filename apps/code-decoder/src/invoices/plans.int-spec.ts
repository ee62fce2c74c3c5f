import { planOf } from '@svc/testing';
import { type Decoder, startDecoder } from '../../test/decoder.js';
import { InvoiceRepository } from './invoice.repository.js';

let decoder: Decoder;
beforeAll(async () => {
  decoder = await startDecoder();
});
afterAll(() => decoder.stop());

// PostgreSQL plans the statement once, while the tables are empty.
test('a static code only reads the open invoices of its till', async () => {
  const invoices = decoder.service.app.get(InvoiceRepository);
  const plan = await planOf(decoder.dataSource, () => invoices.findByTillCode('test', '0'.repeat(20)));
  expect(plan).toMatch(
    /using invoices_at_till on invoices i .*\n\s+Index Cond: \(\(site_id = .*\) AND \(mode = .*\) AND \(site_reference = .*\) AND \(expires_at > /,
  );
  expect(plan).not.toMatch(/Seq Scan/);
});

test('an externalReference is looked up in the index of its site', async () => {
  const invoices = decoder.service.app.get(InvoiceRepository);
  const plan = await planOf(decoder.dataSource, () =>
    invoices.findByExternalReference({ merchantId: 1, siteId: 2, mode: 'test' }, 'x'),
  );
  const byReference = 'Index Cond: \\(\\(site_id = .*\\) AND \\(mode = .*\\) AND \\(external_reference = ';
  expect(plan).toMatch(new RegExp(`using invoices_one_open on invoices i .*\\n\\s+${byReference}`));
  // Reads the end of the index: a sort would read every invoice that ever had the reference.
  expect(plan).toMatch(
    new RegExp(
      `Limit .*\\n\\s+->  Index Scan Backward using invoices_by_external_reference on .*\\n\\s+${byReference}`,
    ),
  );
});
