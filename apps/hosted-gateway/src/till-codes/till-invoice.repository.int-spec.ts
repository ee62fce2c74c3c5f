import { randomUUID } from 'node:crypto';
import type { InvoiceSource, PayableDescriptor } from '@svc/contracts';
import { buildPayment, type Gateway, type Merchant, startGateway } from '../../test/gateway.js';
import { createInvoice, createTill } from '../../test/till-invoices.js';
import { TillInvoiceRepository } from './till-invoice.repository.js';

let gateway: Gateway;
let invoices: TillInvoiceRepository;
let merchant: Merchant;
beforeAll(async () => {
  gateway = await startGateway();
  invoices = gateway.service.app.get(TillInvoiceRepository);
  merchant = await gateway.createMerchant();
});
afterAll(() => gateway.stop());

/** Physical locations of the rows of an invoice and its payments. An update changes the location of its row. */
const readRowLocations = ({ payableId }: PayableDescriptor<InvoiceSource>): Promise<unknown[]> =>
  gateway.dataSource.query(
    `SELECT ctid::text FROM known_invoices WHERE invoice_reference = $1
     UNION ALL SELECT ctid::text FROM invoice_payments WHERE invoice_reference = $1`,
    [payableId],
  );

test('payments and states whose version is not newer than the stored version are not written', async () => {
  const invoice = await createInvoice(gateway, merchant);
  const { payableId } = invoice;
  const paid = buildPayment(invoice, { version: 3 });
  await invoices.upsertPayments([paid]);
  const before = await readRowLocations(invoice);
  expect(before).toHaveLength(2);
  for (const version of [2, 3]) {
    await invoices.upsertPayments([{ ...paid, payable: { ...paid.payable, version } }]);
    await invoices.updatePayable({ payableId, state: 'closed', version, paymentCount: 0 });
  }
  expect(await readRowLocations(invoice)).toEqual(before);
  expect(await invoices.find(payableId)).toMatchObject({ payableState: 'paid', payableVersion: 3 });
});

test('the repository stores the newest version of each payment and invoice in a batch, whatever the order of the batch', async () => {
  for (const reversed of [false, true]) {
    const [first, second] = [await createInvoice(gateway, merchant), await createInvoice(gateway, merchant)];
    const processing = buildPayment(first, { version: 2, state: 'processing' });
    const paid = { ...buildPayment(first, { version: 3 }), paymentReference: processing.paymentReference };
    const batch = [processing, paid, buildPayment(second, { version: 2, state: 'processing' })];
    await invoices.upsertPayments(reversed ? batch.toReversed() : batch);
    expect(await invoices.find(first.payableId)).toMatchObject({
      payableState: 'paid',
      payments: [{ state: 'success' }],
    });
    expect(await invoices.find(second.payableId)).toMatchObject({ payableState: 'reserved', paymentCount: 1 });
  }
});

test.each([[[3, 7]], [[7, 3]]])(
  'payments are sorted by acceptance time and then by version, newest first, if their versions arrived in the order %j',
  async (versions) => {
    const invoice = await createInvoice(gateway, merchant);
    const older = {
      ...buildPayment(invoice, { version: 9, state: 'failed' }),
      paymentUTCDate: '2026-03-01T09:59:00.000Z',
    };
    await invoices.upsertPayments([older]);
    for (const version of versions)
      await invoices.upsertPayments([buildPayment(invoice, { version, state: 'failed' })]);
    const { payments } = (await invoices.findByCode(invoice.source.code))!;
    expect(payments.map(({ payable }) => payable.version)).toEqual([7, 3, 9]);
  },
);

test('findVersions returns the versions of only the requested invoices', async () => {
  const [first] = [await createInvoice(gateway, merchant), await createInvoice(gateway, merchant)];
  await invoices.updatePayable({ payableId: first.payableId, state: 'open', version: 5, paymentCount: 0 });
  expect(await invoices.findVersions([first.payableId])).toEqual(new Map([[first.payableId, 5]]));
});

test('the repository stores only the fields of a line item that the page shows', async () => {
  const lineItems = [
    { name: 'Rooibos', productCode: 'RB', sku: 'R-1', unitPrice: '4475', quantity: 2, categories: ['tea'] },
    { productCode: 'T', sku: 'S', unitPrice: '100' },
    { sku: 'S', unitPrice: '-50' },
  ];
  const invoice = await createInvoice(gateway, merchant, { lineItems });
  const [row] = await gateway.dataSource.query<{ lineItems: object }[]>(
    `SELECT line_items AS "lineItems" FROM known_invoices WHERE invoice_reference = $1`,
    [invoice.payableId],
  );
  expect(row?.lineItems).toEqual([
    { name: 'Rooibos', unitPrice: '4475', quantity: 2 },
    { name: 'T', unitPrice: '100' },
    { name: 'S', unitPrice: '-50' },
  ]);
});

test('a payment request is found by its own code, and never by the static code of a till', async () => {
  const code = await createTill(gateway, merchant);
  const ofTill = await createInvoice(gateway, merchant);
  const request = await createInvoice(gateway, merchant, { requestedBy: randomUUID() });
  expect(await invoices.findByStaticCode(code, ofTill.payableId)).toMatchObject({ isPaymentRequest: false });
  expect(await invoices.findByStaticCode(code, request.payableId)).toBeUndefined();
  expect(await invoices.findByCode(request.source.code)).toMatchObject({
    invoiceReference: request.payableId,
    isPaymentRequest: true,
  });
});
