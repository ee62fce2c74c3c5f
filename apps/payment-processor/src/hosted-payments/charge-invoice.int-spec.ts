/** Payments of a till's invoice by a payer on the payment page: the merchant's terms, and concurrent payments. */
import { randomUUID } from 'node:crypto';
import { buildMerchantPayment, type MerchantFeatures, type PaymentSnapshot, PaymentSucceededV1 } from '@svc/contracts';
import { buildInvoicePayable, buildPayable } from '../../test/builders.js';
import { CARDS } from '../../test/encrypted-card.js';
import { createMerchant, createPartner, openInvoice } from '../../test/partner.js';
import { type Processor, startProcessor } from '../../test/processor.js';

let processor: Processor;
beforeAll(async () => {
  processor = await startProcessor();
});
afterAll(() => processor.stop());

const createInvoice = async (features: MerchantFeatures = {}, overrides: { minimumAmount?: number } = {}) =>
  openInvoice(processor, await createMerchant(processor, { features, ...overrides }));
const findPayments = (payableId: string): Promise<unknown[]> =>
  processor.dataSource.query(`SELECT 1 FROM payments WHERE payable_id = $1`, [payableId]);
const findEvents = async (payableId: string): Promise<PaymentSnapshot[]> =>
  (await processor.published(PaymentSucceededV1))
    .map(({ payload }) => payload)
    .filter(({ payable }) => payable.payableId === payableId);

test('a payment of an invoice and the event of its outcome contain the till’s reference and no partner organisation', async () => {
  const invoice = await createInvoice();
  const paid = await processor.payInvoice(invoice);
  expect(paid).toMatchObject({
    state: 'success',
    ...{ invoicedAmount: 12_345, amount: 12_345, tipAmount: 0, processedAmount: 12_345 },
    ...{ source: invoice.source, siteReference: 'TILL-1', merchantName: 'Karoo Books' },
    payable: { state: 'paid', paymentCount: 1 },
  });
  expect(paid.partner).toBeUndefined();
  // The site of the invoice is a web shop with the reference WEB.
  expect((await findEvents(invoice.payableId)).map(({ siteReference }) => siteReference)).toEqual(['TILL-1']);
  expect(await processor.pollPayments(invoice)).toEqual([paid]);
  expect(buildMerchantPayment(paid)).toMatchObject({
    ...{ invoiceReference: invoice.payableId, invoiceExternalReference: 'inv-1', siteReference: 'TILL-1' },
    ...{ status: 1, tenderedAmount: 12_345, vouchers: [], customer: { firstName: '', lastName: '' } },
  });
});

test('a tip and an edited amount that the merchant allows are charged, booked in the ledger and published', async () => {
  const invoice = await createInvoice({ tip: { enabled: true }, amount: { editable: true } });
  const paid = await processor.payInvoice(invoice, { command: { amount: 10_000, tipAmount: 1_500 } });
  expect(paid).toMatchObject({ invoicedAmount: 12_345, amount: 10_000, tipAmount: 1_500, processedAmount: 11_500 });
  const transfers = await processor.dataSource.query<unknown[]>(
    `SELECT kind, t.amount FROM transfers t JOIN payments USING (payment_id) WHERE payment_reference = $1`,
    [paid.paymentReference],
  );
  expect(transfers).toEqual([{ kind: 'capture', amount: 11_500 }]);
  expect((await findEvents(invoice.payableId)).map(({ amount, tipAmount }) => [amount, tipAmount])).toEqual([
    [10_000, 1_500],
  ]);
});

test('a tip is also charged when the payer must be verified', async () => {
  const invoice = await createInvoice({ tip: { enabled: true } });
  const challengedPayment = await processor.payInvoice(invoice, {
    card: CARDS.verificationRequired,
    command: { tipAmount: 155 },
  });
  expect(challengedPayment.state).toBe('verificationRequired');
  await processor.answerChallenge(challengedPayment, 'confirm');
  expect(await processor.pollPayments(invoice)).toMatchObject([
    { state: 'success', tipAmount: 155, processedAmount: 12_500 },
  ]);
});

describe('a payment of an invoice', () => {
  const EDITABLE = { amount: { editable: true } };
  test.each<[string, MerchantFeatures, { amount?: number; tipAmount?: number }, string]>([
    ['a tip that is not allowed', EDITABLE, { tipAmount: 1 }, 'payment.not-accepted'],
    ['another amount, which is not editable', { tip: { enabled: true } }, { amount: 12_344 }, 'payable.mismatch'],
    ['an amount below the minimum', EDITABLE, { amount: 99 }, 'payable.mismatch'],
    ['an amount above ten times the amount due', EDITABLE, { amount: 123_451 }, 'payable.mismatch'],
    ['a tip above the amount due', { tip: { enabled: true } }, { tipAmount: 12_346 }, 'payable.mismatch'],
  ])('is rejected without a charge or a record if it has %s', async (_, features, command, code) => {
    const invoice = await createInvoice(features);
    await expect(processor.payInvoice(invoice, { command })).rejects.toMatchObject({ code });
    expect(await findPayments(invoice.payableId)).toEqual([]);
    expect(await processor.payInvoice(invoice)).toMatchObject({ state: 'success', payable: { paymentCount: 1 } });
  });

  test('is rejected above the maximum of the merchant', async () => {
    const merchant = await createMerchant(processor, { features: EDITABLE, maximumAmount: 12_400 });
    const invoice = await openInvoice(processor, merchant);
    await expect(processor.payInvoice(invoice, { command: { amount: 12_401 } })).rejects.toMatchObject({
      code: 'payable.mismatch',
    });
    expect(await processor.payInvoice(invoice, { command: { amount: 12_400 } })).toMatchObject({ state: 'success' });
  });

  test('is checked against the terms of the invoice’s merchant, not of another merchant', async () => {
    await createMerchant(processor, { features: { tip: { enabled: true } } });
    const invoice = await createInvoice();
    await expect(processor.payInvoice(invoice, { command: { tipAmount: 1 } })).rejects.toMatchObject({
      code: 'payment.not-accepted',
    });
  });

  test('is rejected with service.not-ready while the merchant’s event has not arrived', async () => {
    const payable = buildInvoicePayable({ merchantId: 999_999 });
    await processor.openPayable({ payable });
    await expect(processor.payInvoice(payable)).rejects.toMatchObject({ code: 'service.not-ready' });
  });

  test('is rejected if its reference is invalid', async () => {
    await expect(processor.payInvoice(await createInvoice(), { reference: 'x' })).rejects.toMatchObject({
      code: 'request.invalid',
    });
  });
});

test('a retry returns the existing payment, even after the merchant has changed its terms', async () => {
  const merchant = await createMerchant(processor, { features: { tip: { enabled: true } } });
  const invoice = await openInvoice(processor, merchant);
  const options = { reference: randomUUID(), command: { tipAmount: 500 } };
  const paid = await processor.payInvoice(invoice, options);
  await createMerchant(processor, { merchantId: merchant.merchantId });
  expect(await processor.payInvoice(invoice, options)).toEqual(paid);
  expect(processor.chargedReferences().filter((reference) => reference === paid.paymentReference)).toHaveLength(1);
});

test('a retry with another amount or tip is rejected as a conflict and charges nothing', async () => {
  const merchant = await createMerchant(processor, {
    features: { tip: { enabled: true }, amount: { editable: true } },
  });
  const invoice = await openInvoice(processor, merchant);
  const reference = randomUUID();
  const paid = await processor.payInvoice(invoice, { reference, command: { tipAmount: 500 } });
  const conflict = { code: 'request.idempotency-conflict' };
  for (const command of [{ tipAmount: 0 }, { tipAmount: 500, amount: 10_000 }])
    await expect(processor.payInvoice(invoice, { reference, command })).rejects.toMatchObject(conflict);
  // The retry is a conflict also when the merchant's terms no longer allow a tip.
  await createMerchant(processor, { merchantId: merchant.merchantId });
  await expect(processor.payInvoice(invoice, { reference, command: { tipAmount: 400 } })).rejects.toMatchObject(
    conflict,
  );
  expect(
    processor.chargedReferences().filter((chargedReference) => chargedReference === paid.paymentReference),
  ).toHaveLength(1);
});

test('a session cannot be paid as an invoice, and is charged in full even if the command has another amount', async () => {
  const session = buildPayable();
  const commandWithLowerAmount = { amount: 1, tipAmount: 7 } as never;
  await expect(processor.payInvoice(session as never, { command: { amount: 1 } })).rejects.toMatchObject({
    code: 'request.invalid',
    fields: [{ field: 'payable.source' }],
  });
  expect(await processor.pay(session, { command: commandWithLowerAmount })).toMatchObject({
    ...{ state: 'success', amount: session.amount, tipAmount: 0, processedAmount: session.amount },
  });
});

test('if a payer on the payment page and a partner pay an invoice at the same time, exactly one of the payments succeeds', async () => {
  const partner = await createPartner(processor);
  const before = processor.chargedReferences().length;
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const invoice = await createInvoice();
      const [pageOutcome, partnerStatus] = await Promise.all([
        processor.payInvoice(invoice).then(
          ({ state }) => state,
          ({ code }: { code: string }) => code,
        ),
        partner.pay(invoice).then(({ status }) => status),
      ]);
      return {
        paidCount: Number(pageOutcome === 'success') + Number(partnerStatus === 201),
        pageOutcome,
        partnerStatus,
      };
    }),
  );
  expect(outcomes.map(({ paidCount }) => paidCount)).toEqual(Array(20).fill(1));
  const allowedPageOutcomes = ['success', 'payment.in-progress', 'payable.paid'];
  for (const { pageOutcome, partnerStatus } of outcomes)
    expect([allowedPageOutcomes.includes(pageOutcome), [201, 409].includes(partnerStatus)]).toEqual([true, true]);
  expect(processor.chargedReferences()).toHaveLength(before + 20);
});
