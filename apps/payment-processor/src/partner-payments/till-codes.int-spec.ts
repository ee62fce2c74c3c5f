/** Payments by codes other than that of an invoice: a till's static code, and a third party's. */
import { randomUUID } from 'node:crypto';
import { newOwnCode } from '@svc/kernel';
import { tamper } from '../../test/attempts/open-attempt.js';
import { aMerchant, aPartner, openInvoice, type PartnerUnderTest } from '../../test/partner.js';
import { CODES_URL, type Processor, startProcessor } from '../../test/processor.js';
import { PartnerPaymentRepository } from './partner-payment.repository.js';

let processor: Processor;
let partner: PartnerUnderTest;
let merchant: { merchantId: number; siteId: number };
beforeAll(async () => {
  processor = await startProcessor();
});
beforeEach(async () => {
  partner = await aPartner(processor);
  merchant = await aMerchant(processor);
});
afterEach(() => {
  jest.restoreAllMocks();
  processor.tillInvoices.mockReset().mockReturnValue({});
});
afterAll(() => processor.stop());

const anInvoice = (over = {}) => openInvoice(processor, { ...merchant, ...over });
type Payable = Awaited<ReturnType<typeof anInvoice>>;
const base64 = (text: string): string => Buffer.from(text).toString('base64');
/** Pays the amount of `invoice` by this code. */
const payBy = (code: string, invoice: Payable, over = {}) =>
  partner.pay(invoice, { invoiceReference: undefined, code: base64(code), ...over });
const tillShows = (invoice: Payable): void =>
  void processor.tillInvoices.mockReturnValue({ invoiceReference: invoice.payableId });
const paymentsOf = ({ payableId }: Payable): Promise<unknown[]> =>
  processor.dataSource.query(`SELECT 1 FROM payments WHERE payable_id = $1`, [payableId]);

test.each([
  ['its URL', (code: string) => `${CODES_URL}/c/${code}`],
  ['its digits', (code: string) => code],
])('a static code pays the invoice that its till shows, by %s', async (_, textOf) => {
  const [code, invoice] = [newOwnCode(), await anInvoice()];
  tillShows(invoice);
  const { status, body } = await payBy(textOf(code), invoice);
  expect([status, body.status, body.invoiceReference]).toEqual([201, 'success', invoice.payableId]);
  expect(processor.tillInvoices.mock.calls).toEqual([[{ mode: 'test', code }]]);
});

test.each([[{}], [{ amount: { editable: true } }]])(
  'with the features %j another amount than that of the invoice is rejected with 22, and nothing is charged',
  async (features) => {
    merchant = await aMerchant(processor, { features });
    const invoice = await anInvoice();
    tillShows(invoice);
    const { status, body } = await payBy(newOwnCode(), invoice, { amount: invoice.amount + 1 });
    expect([status, body.code, body.errors[0].errorReference]).toEqual([422, 'payable.mismatch', '22']);
    expect(await paymentsOf(invoice)).toEqual([]);
    expect((await payBy(newOwnCode(), invoice)).status).toBe(201);
  },
);

test('a static code is resolved once: a newer invoice of the same amount is not charged instead', async () => {
  const [shown, newer] = [await anInvoice(), await anInvoice()];
  processor.tillInvoices
    .mockReturnValueOnce({ invoiceReference: shown.payableId })
    .mockReturnValue({ invoiceReference: newer.payableId });
  const payments = processor.service.app.get(PartnerPaymentRepository);
  const findPayable = payments.findPayable.bind(payments);
  // The payable changes after it was read, so that it is read again.
  jest.spyOn(payments, 'findPayable').mockImplementationOnce(async (mode, payableId) => {
    const found = await findPayable(mode, payableId);
    await tamper(processor, `UPDATE payables SET version = version + 1 WHERE payable_id = $1`, payableId);
    return found;
  });
  const { status, body } = await payBy(newOwnCode(), shown);
  expect([status, body.invoiceReference]).toEqual([201, shown.payableId]);
  expect(await paymentsOf(newer)).toEqual([]);
});

test('a retry returns the same payment, even if the till has another invoice by then', async () => {
  const [code, shown, newer] = [newOwnCode(), await anInvoice(), await anInvoice()];
  const over = { reference: randomUUID(), customer: { id: randomUUID() } };
  tillShows(shown);
  const first = await payBy(code, shown, over);
  tillShows(newer);
  const again = await payBy(code, shown, over);
  expect([first.status, again.status]).toEqual([201, 200]);
  expect(again.body.paymentReference).toBe(first.body.paymentReference);
  expect(await paymentsOf(newer)).toEqual([]);
});

test('a static code is a 404 if its till has no invoice, or one of another mode', async () => {
  const invoice = await anInvoice({ mode: 'live' });
  for (const shows of [{}, { invoiceReference: invoice.payableId }, { invoiceReference: randomUUID() }]) {
    processor.tillInvoices.mockReturnValue(shows);
    const { status, body } = await payBy(newOwnCode(), invoice);
    expect([status, body.code]).toEqual([404, 'payable.not-found']);
  }
});

test('without code-decoder a static code is a 503 with Retry-After; the code of an invoice can still be paid', async () => {
  const invoice = await anInvoice();
  processor.tillInvoices.mockReturnValue(undefined);
  const { status, headers } = await payBy(newOwnCode(), invoice);
  expect([status, headers['retry-after']]).toEqual([503, '1']);
  expect((await payBy(invoice.source.code, invoice)).status).toBe(201);
});

test.each(['https://pay.another.example/25000', 'hello', '1'.repeat(19), 'SK-1-12345678901234567890123'])(
  'the code of a third party is a 422 with a hint where to pay it: %s',
  async (code) => {
    const { status, body } = await payBy(code, await anInvoice());
    expect([status, body.code, body.errors]).toEqual([
      422,
      'code.third-party',
      [{ errorReference: '40', message: expect.stringContaining('belongs to another provider') }],
    ]);
    expect(processor.tillInvoices).not.toHaveBeenCalled();
  },
);

test('a URL of this platform without a code is a 404, not a code of a third party', async () => {
  const { status, body } = await payBy(`${CODES_URL}/c/hello`, await anInvoice());
  expect([status, body.code]).toEqual([404, 'payable.not-found']);
});
