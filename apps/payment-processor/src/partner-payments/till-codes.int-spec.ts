/** Payments by codes that do not belong to an invoice: a till's static code, and codes of third parties. */
import { randomUUID } from 'node:crypto';
import { newOwnCode } from '@svc/kernel';
import { changeRow } from '../../test/attempts/open-attempt.js';
import { createMerchant, createPartner, openInvoice, type PartnerUnderTest } from '../../test/partner.js';
import { CODES_URL, type Processor, startProcessor } from '../../test/processor.js';
import { PartnerPaymentRepository } from './partner-payment.repository.js';

let processor: Processor;
let partner: PartnerUnderTest;
let merchant: { merchantId: number; siteId: number };
beforeAll(async () => {
  processor = await startProcessor();
});
beforeEach(async () => {
  partner = await createPartner(processor);
  merchant = await createMerchant(processor);
});
afterEach(() => {
  jest.restoreAllMocks();
  processor.findTillInvoice.mockReset().mockReturnValue({});
});
afterAll(() => processor.stop());

const createInvoice = (overrides = {}) => openInvoice(processor, { ...merchant, ...overrides });
type Payable = Awaited<ReturnType<typeof createInvoice>>;
const base64 = (text: string): string => Buffer.from(text).toString('base64');
/** Pays by this code, with the amount of `invoice`. */
const payByCode = (code: string, invoice: Payable, overrides = {}) =>
  partner.pay(invoice, { invoiceReference: undefined, code: base64(code), ...overrides });
/** Makes code-decoder return this invoice for each static code. */
const setTillInvoice = (invoice: Payable): void =>
  void processor.findTillInvoice.mockReturnValue({ invoiceReference: invoice.payableId });
const findPayments = ({ payableId }: Payable): Promise<unknown[]> =>
  processor.dataSource.query(`SELECT 1 FROM payments WHERE payable_id = $1`, [payableId]);

test.each([
  ['its URL', (code: string) => `${CODES_URL}/c/${code}`],
  ['its digits', (code: string) => code],
])('the payer can pay the current invoice of a till with the static code, given as %s', async (_, scannedText) => {
  const [code, invoice] = [newOwnCode(), await createInvoice()];
  setTillInvoice(invoice);
  const { status, body } = await payByCode(scannedText(code), invoice);
  expect([status, body.status, body.invoiceReference]).toEqual([201, 'success', invoice.payableId]);
  expect(processor.findTillInvoice.mock.calls).toEqual([[{ mode: 'test', code }]]);
});

test.each([[{}], [{ amount: { editable: true } }]])(
  'with the features %j, a payment by static code is rejected with the error 22 if its amount differs from the invoice',
  async (features) => {
    merchant = await createMerchant(processor, { features });
    const invoice = await createInvoice();
    setTillInvoice(invoice);
    const { status, body } = await payByCode(newOwnCode(), invoice, { amount: invoice.amount + 1 });
    expect([status, body.code, body.errors]).toEqual([
      422,
      'payable.mismatch',
      [{ errorReference: '22', message: 'amount must be 12345 cents (R 123.45), the amount due.' }],
    ]);
    expect(await findPayments(invoice)).toEqual([]);
    expect((await payByCode(newOwnCode(), invoice)).status).toBe(201);
  },
);

test('a static code is resolved only once, so that a newer invoice with the same amount is not charged instead', async () => {
  const [currentInvoice, newerInvoice] = [await createInvoice(), await createInvoice()];
  processor.findTillInvoice
    .mockReturnValueOnce({ invoiceReference: currentInvoice.payableId })
    .mockReturnValue({ invoiceReference: newerInvoice.payableId });
  const payments = processor.service.app.get(PartnerPaymentRepository);
  const findPayable = payments.findPayable.bind(payments);
  // The payable changes after it was read. Therefore it must be read again.
  jest.spyOn(payments, 'findPayable').mockImplementationOnce(async (mode, payableId) => {
    const payableToPay = await findPayable(mode, payableId);
    await changeRow(processor, `UPDATE payables SET version = version + 1 WHERE payable_id = $1`, payableId);
    return payableToPay;
  });
  const { status, body } = await payByCode(newOwnCode(), currentInvoice);
  expect([status, body.invoiceReference]).toEqual([201, currentInvoice.payableId]);
  expect(await findPayments(newerInvoice)).toEqual([]);
});

test('a retry returns the same payment, even if the till has a newer invoice by then', async () => {
  const [code, currentInvoice, newerInvoice] = [newOwnCode(), await createInvoice(), await createInvoice()];
  const overrides = { reference: randomUUID(), customer: { id: randomUUID() } };
  setTillInvoice(currentInvoice);
  const first = await payByCode(code, currentInvoice, overrides);
  setTillInvoice(newerInvoice);
  const retried = await payByCode(code, currentInvoice, overrides);
  expect([first.status, retried.status]).toEqual([201, 200]);
  expect(retried.body.paymentReference).toBe(first.body.paymentReference);
  expect(await findPayments(newerInvoice)).toEqual([]);
});

test('a payment by static code is rejected with 404 if the till has no invoice, or only an invoice in another mode', async () => {
  const invoice = await createInvoice({ mode: 'live' });
  for (const decoderReply of [{}, { invoiceReference: invoice.payableId }, { invoiceReference: randomUUID() }]) {
    processor.findTillInvoice.mockReturnValue(decoderReply);
    const { status, body } = await payByCode(newOwnCode(), invoice);
    expect([status, body.code]).toEqual([404, 'payable.not-found']);
  }
});

test('while code-decoder is unavailable, a payment by static code is rejected with 503 and Retry-After; a payment by the code of an invoice still succeeds', async () => {
  const invoice = await createInvoice();
  processor.findTillInvoice.mockReturnValue(undefined);
  const { status, headers } = await payByCode(newOwnCode(), invoice);
  expect([status, headers['retry-after']]).toEqual([503, '1']);
  expect((await payByCode(invoice.source.code, invoice)).status).toBe(201);
});

test.each(['https://pay.another.example/25000', 'hello', '1'.repeat(19), 'SK-1-12345678901234567890123'])(
  'a payment by the code %s of a third party is rejected with 422 and a hint where to pay it',
  async (code) => {
    const { status, body } = await payByCode(code, await createInvoice());
    expect([status, body.code, body.errors]).toEqual([
      422,
      'code.third-party',
      [{ errorReference: '40', message: expect.stringContaining('belongs to another provider') }],
    ]);
    expect(processor.findTillInvoice).not.toHaveBeenCalled();
  },
);

test('a payment by a URL of this platform without a code is rejected with 404, not as a code of a third party', async () => {
  const { status, body } = await payByCode(`${CODES_URL}/c/hello`, await createInvoice());
  expect([status, body.code]).toEqual([404, 'payable.not-found']);
});
