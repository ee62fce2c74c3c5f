import { planOf } from '@svc/testing';
import { type Decoder, startDecoder } from '../../test/decoder.js';
import { InvoiceRepository } from './invoice.repository.js';
import { InvoiceRequestRepository } from './invoice-request.repository.js';

let decoder: Decoder;
beforeAll(async () => {
  decoder = await startDecoder();
});
afterAll(() => decoder.stop());

// PostgreSQL plans each statement once, while the tables are empty: the plan must also be good for full tables.
test('findByTillCode only reads the open invoices of the till, with an index', async () => {
  const invoices = decoder.service.app.get(InvoiceRepository);
  const plan = await planOf(decoder.dataSource, () => invoices.findByTillCode('test', '0'.repeat(20)));
  expect(plan).toMatch(
    /using invoices_at_till on invoices .*\n\s+Index Cond: \(\(site_id = .*\) AND \(mode = .*\) AND \(site_reference = .*\) AND \(expires_at > /,
  );
  expect(plan).not.toMatch(/Seq Scan/);
});

test('findByExternalReference uses the indexes on site, mode and externalReference', async () => {
  const invoices = decoder.service.app.get(InvoiceRepository);
  const plan = await planOf(decoder.dataSource, () =>
    invoices.findByExternalReference({ merchantId: 1, siteId: 2, mode: 'test' }, 'x'),
  );
  const indexCondition = 'Index Cond: \\(\\(site_id = .*\\) AND \\(mode = .*\\) AND \\(external_reference = ';
  expect(plan).toMatch(new RegExp(`using invoices_one_open on invoices .*\\n\\s+${indexCondition}`));
  // The newest invoice is read from the end of the index. A sort would read every invoice that ever had this reference.
  expect(plan).toMatch(
    new RegExp(
      `Limit .*\\n\\s+->  Index Scan Backward using invoices_by_external_reference on .*\\n\\s+${indexCondition}`,
    ),
  );
});

test('a repeated request is found with the primary key, and old requests with the index on their time', async () => {
  const requests = decoder.service.app.get(InvoiceRequestRepository);
  const owner = { merchantId: 1, siteId: 2, mode: 'test' as const };
  const request = { requestId: 'key:1', requestFingerprint: 'f'.repeat(64) };
  expect(await planOf(decoder.dataSource, () => requests.find(owner, [request]))).toMatch(
    /using invoice_requests_pkey on .*\n\s+Index Cond: \(\(merchant_id = .*\) AND \(site_id = .*\) AND \(mode = .*\) AND \(request_id = wanted.request_id\)/,
  );
  const plan = await planOf(decoder.dataSource, () => requests.deleteExpired());
  expect(plan).toMatch(/using invoice_requests_by_time on /);
  expect(plan).not.toMatch(/Seq Scan on invoice_requests/);
});
