/**
 * Query plans of the statements for tills' invoices, in tables that have grown since the last ANALYZE. A connection
 * plans a statement only once, so a plan that was made for small tables must still be fast when the tables have grown.
 */
import { planOf } from '@svc/testing';
import { buildPayment, type Gateway, startGateway } from '../../test/gateway.js';
import { buildInvoiceCreated, createInvoice, createTill } from '../../test/till-invoices.js';
import { TillInvoiceRepository } from './till-invoice.repository.js';

const ROWS = 20_000;

let gateway: Gateway;
let invoices: TillInvoiceRepository;
let staticCode: string;
let merchant: Awaited<ReturnType<Gateway['createMerchant']>>;
beforeAll(async () => {
  gateway = await startGateway();
  invoices = gateway.service.app.get(TillInvoiceRepository);
  merchant = await gateway.createMerchant();
  staticCode = await createTill(gateway, merchant);
});
afterAll(() => gateway.stop());

async function fillTables(): Promise<void> {
  const numbers = `generate_series(1, ${ROWS}) AS number`;
  await gateway.dataSource.query(
    `INSERT INTO known_invoices (code, merchant_id, site_id, amount, currency, line_items, expires_at, invoice_reference, mode,
                                 site_reference, is_payment_request, max_payments, payable_state, payable_version, payment_count)
     SELECT lpad(number::text, 20, '0'), 1, 1, 1, 'ZAR', '[]', now(), gen_random_uuid(), 'test', 'T', false, 100, 'open', 1, 0 FROM ${numbers}`,
  );
  await gateway.dataSource.query(
    `INSERT INTO invoice_payments (payment_reference, invoice_reference, snapshot, accepted_at, version)
     SELECT number, gen_random_uuid(), '{}', now(), 2 FROM ${numbers}`,
  );
}

/** Matches a plan that reads a whole table. */
const SEQUENTIAL_SCAN = /Seq Scan on (known_till_codes|known_invoices|invoice_payments|known_sites|known_merchants)/;

describe.each([0, ROWS])('in tables with %d additional rows', (additionalRows) => {
  beforeAll(async () => {
    if (additionalRows > 0) await fillTables();
  });

  test.each<[string, (payable: Awaited<ReturnType<typeof createInvoice>>) => Promise<unknown>, RegExp]>([
    ['that finds an invoice by its code', ({ source }) => invoices.findByCode(source.code), /Index Cond: \(code = /],
    [
      'that finds an invoice of the till of a static code',
      ({ payableId }) => invoices.findByStaticCode(staticCode, payableId),
      /known_invoices_pkey/,
    ],
    ['that finds an invoice by its reference', ({ payableId }) => invoices.find(payableId), /known_invoices_pkey/],
    [
      'that finds the versions of invoices',
      ({ payableId }) => invoices.findVersions([payableId]),
      /known_invoices_pkey/,
    ],
    [
      'that stores payments of an invoice',
      (payable) => invoices.upsertPayments([buildPayment(payable, { version: 3 })]),
      /known_invoices_pkey[^\n]*\n\s+Index Cond: \(invoice_reference = /,
    ],
    [
      'that stores an invoice, with payments that arrived before it',
      () => invoices.insertIfAbsent([buildInvoiceCreated(gateway, merchant)]),
      /invoice_payments_by_invoice[^\n]*\n\s+Index Cond: \(invoice_reference = /,
    ],
  ])('the statement %s uses an index', async (_, execute, index) => {
    const invoice = await createInvoice(gateway, merchant);
    const plan = await planOf(gateway.dataSource, () => execute(invoice));
    expect(plan).toMatch(index);
    expect(plan).not.toMatch(SEQUENTIAL_SCAN);
  });
});
