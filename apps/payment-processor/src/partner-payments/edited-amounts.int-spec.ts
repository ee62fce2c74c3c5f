/** The limits of the amounts and tips that partners' customers choose (P6). */
import { createMerchant, createPartner, openInvoice, type PartnerUnderTest } from '../../test/partner.js';
import { type Processor, startProcessor } from '../../test/processor.js';

let processor: Processor;
let partner: PartnerUnderTest;
let merchant: { merchantId: number; siteId: number };
beforeAll(async () => {
  processor = await startProcessor();
});
beforeEach(async () => {
  partner = await createPartner(processor);
});
afterAll(() => processor.stop());

/** The whole body of the 422 for a wrong amount. */
const newProblem = (detail: string): unknown => ({
  type: '/errors/payable.mismatch',
  title: 'The amount or currency does not match the amount due.',
  status: 422,
  code: 'payable.mismatch',
  detail,
  instance: expect.any(String) as string,
  errors: [{ errorReference: '22', message: detail }],
});
const createInvoice = () => openInvoice(processor, merchant);
const countPayments = async ({ payableId }: { payableId: string }): Promise<number> =>
  (await processor.dataSource.query<unknown[]>(`SELECT FROM payments WHERE payable_id = $1`, [payableId])).length;

test('an edited amount and a tip are charged if the merchant allows them', async () => {
  merchant = await createMerchant(processor, { features: { amount: { editable: true }, tip: { enabled: true } } });
  const { body } = await partner.pay(await createInvoice(), { amount: 10_000, tipAmount: 500 });
  expect(body).toMatchObject({ invoicedAmount: 12345, tipAmount: 500, processedAmount: 10_500, status: 'success' });
});

test.each([
  ['the default minimum', undefined, 99, 100, '100 cents (R 1.00)'],
  ['the merchant’s minimum', 5_000, 4_999, 5_000, '5000 cents (R 50.00)'],
  ['the invoiced amount, if it is smaller than the minimum,', 20_000, 12_344, 12_345, '12345 cents (R 123.45)'],
])('an edited amount below %s is rejected', async (_, minimumAmount, rejectedAmount, acceptedAmount, minimum) => {
  const features = { amount: { editable: true } };
  merchant = await createMerchant(processor, { features, ...(minimumAmount ? { minimumAmount } : {}) });
  const invoice = await createInvoice();
  const { status, body } = await partner.pay(invoice, { amount: rejectedAmount });
  const message = `amount must be from ${minimum} to 123450 cents (R 1 234.50): 12345 cents (R 123.45) is due.`;
  expect([status, body]).toEqual([422, newProblem(message)]);
  expect(await countPayments(invoice)).toBe(0);
  expect(await partner.pay(invoice, { amount: acceptedAmount })).toMatchObject({
    status: 201,
    body: { status: 'success' },
  });
});

test.each([
  ['ten times the invoiced amount', {}, 123_451, 123_450, '123450 cents (R 1 234.50)'],
  ['the merchant’s maximum', { maximumAmount: 20_000 }, 20_001, 20_000, '20000 cents (R 200.00)'],
  [
    'the invoiced amount, if it is larger than the maximum,',
    { maximumAmount: 10_000 },
    12_346,
    12_345,
    '12345 cents (R 123.45)',
  ],
])('an edited amount above %s is rejected', async (_, terms, rejectedAmount, acceptedAmount, maximum) => {
  merchant = await createMerchant(processor, { features: { amount: { editable: true } }, ...terms });
  const invoice = await createInvoice();
  const { status, body } = await partner.pay(invoice, { amount: rejectedAmount });
  const message = `amount must be from 100 cents (R 1.00) to ${maximum}: 12345 cents (R 123.45) is due.`;
  expect([status, body]).toEqual([422, newProblem(message)]);
  expect(await countPayments(invoice)).toBe(0);
  expect((await partner.pay(invoice, { amount: acceptedAmount })).body).toMatchObject({ status: 'success' });
});

test('an amount that is not editable is rejected with the amount due', async () => {
  merchant = await createMerchant(processor);
  const invoice = await createInvoice();
  const { status, headers, body } = await partner.pay(invoice, { amount: 123 });
  expect([status, headers['content-type'], headers['x-error-code'], headers['link']]).toEqual([
    422,
    'application/problem+json; charset=utf-8',
    'payable.mismatch',
    '</errors/payable.mismatch>; rel="help"',
  ]);
  expect(body).toEqual(newProblem('amount must be 12345 cents (R 123.45), the amount due.'));
  expect(await countPayments(invoice)).toBe(0);
});

test('a maximum that the merchant has removed no longer applies', async () => {
  const features = { amount: { editable: true } };
  merchant = await createMerchant(processor, { features, maximumAmount: 20_000 });
  await createMerchant(processor, { merchantId: merchant.merchantId, features });
  expect((await partner.pay(await createInvoice(), { amount: 123_450 })).body).toMatchObject({ status: 'success' });
});

test('a tip above the invoiced amount is rejected', async () => {
  merchant = await createMerchant(processor, { features: { tip: { enabled: true } } });
  const invoice = await createInvoice();
  const { status, body } = await partner.pay(invoice, { tipAmount: 12_346 });
  const message = 'tipAmount must be at most 12345 cents (R 123.45), the amount due.';
  expect([status, body]).toEqual([422, newProblem(message)]);
  expect(await countPayments(invoice)).toBe(0);
  expect((await partner.pay(invoice, { tipAmount: 12_345 })).body).toMatchObject({ processedAmount: 24_690 });
});
