/** A till's invoice that is paid on its page: the terms of its merchant, and concurrent payments. */
import { randomUUID } from 'node:crypto';
import {
  buildPaymentNotification,
  type MerchantFeatures,
  PaymentProcessingV1,
  type PaymentSnapshot,
  PaymentSucceededV1,
} from '@svc/contracts';
import { anInvoicePayable, aPayable } from '../../test/builders.js';
import { CARDS } from '../../test/encrypted-card.js';
import { aMerchant, aPartner, openInvoice } from '../../test/partner.js';
import { type Processor, startProcessor } from '../../test/processor.js';

let processor: Processor;
beforeAll(async () => {
  processor = await startProcessor();
});
afterAll(() => processor.stop());

const anInvoice = async (features: MerchantFeatures = {}, over: { minimumAmount?: number } = {}) =>
  openInvoice(processor, await aMerchant(processor, { features, ...over }));
const paymentsOf = (payableId: string): Promise<unknown[]> =>
  processor.dataSource.query(`SELECT 1 FROM payments WHERE payable_id = $1`, [payableId]);
const eventsOf = async (payableId: string): Promise<PaymentSnapshot[]> =>
  [...(await processor.published(PaymentProcessingV1)), ...(await processor.published(PaymentSucceededV1))]
    .map(({ payload }) => payload)
    .filter(({ payable }) => payable.payableId === payableId);

test('an invoice causes one payment of the till, without an organisation, also in the events', async () => {
  const invoice = await anInvoice();
  const paid = await processor.payInvoice(invoice);
  expect(paid).toMatchObject({
    state: 'success',
    ...{ invoicedAmount: 12_345, amount: 12_345, tipAmount: 0, processedAmount: 12_345 },
    ...{ source: invoice.source, siteReference: 'TILL-1', merchantName: 'Karoo Books' },
    payable: { state: 'paid', tries: 1 },
  });
  expect(paid.partner).toBeUndefined();
  // The events have the reference of the till, not that of the site, which is a web shop.
  expect((await eventsOf(invoice.payableId)).map(({ siteReference }) => siteReference)).toEqual(['TILL-1', 'TILL-1']);
  expect(await processor.check(invoice)).toEqual([paid]);
  expect(buildPaymentNotification(paid)).toMatchObject({
    ...{ invoiceReference: invoice.payableId, invoiceExternalReference: 'inv-1', siteReference: 'TILL-1' },
    ...{ status: 1, tenderedAmount: 12_345, vouchers: [], customer: { firstName: '', lastName: '' } },
  });
});

test('a tip and an edited amount, if the merchant allows them, are charged, booked and published', async () => {
  const invoice = await anInvoice({ tip: { enabled: true }, amount: { editable: true } });
  const paid = await processor.payInvoice(invoice, { command: { amount: 10_000, tipAmount: 1_500 } });
  expect(paid).toMatchObject({ invoicedAmount: 12_345, amount: 10_000, tipAmount: 1_500, processedAmount: 11_500 });
  const transfers = await processor.dataSource.query<unknown[]>(
    `SELECT kind, t.amount FROM transfers t JOIN payments USING (payment_id) WHERE payment_reference = $1`,
    [paid.paymentReference],
  );
  expect(transfers).toEqual([{ kind: 'capture', amount: 11_500 }]);
  expect((await eventsOf(invoice.payableId)).map(({ amount, tipAmount }) => [amount, tipAmount])).toEqual([
    [10_000, 1_500],
    [10_000, 1_500],
  ]);
});

test('a tip is charged also after a verification', async () => {
  const invoice = await anInvoice({ tip: { enabled: true } });
  const waiting = await processor.payInvoice(invoice, { card: CARDS.verified, command: { tipAmount: 155 } });
  expect(waiting.state).toBe('verificationRequired');
  await processor.answerChallenge(waiting, 'confirm');
  expect(await processor.check(invoice)).toMatchObject([{ state: 'success', tipAmount: 155, processedAmount: 12_500 }]);
});

describe('is rejected without a charge or record', () => {
  const EDITABLE = { amount: { editable: true } };
  test.each<[string, MerchantFeatures, { amount?: number; tipAmount?: number }, string]>([
    ['a tip that is not allowed', EDITABLE, { tipAmount: 1 }, 'payment.not-accepted'],
    ['another amount than a fixed one', { tip: { enabled: true } }, { amount: 12_344 }, 'payable.mismatch'],
    ['less than the minimum', EDITABLE, { amount: 99 }, 'payable.mismatch'],
    [
      'more than the limit of an acquirer',
      { ...EDITABLE, tip: { enabled: true } },
      { amount: 100_000_000_000, tipAmount: 1 },
      'payment.not-accepted',
    ],
  ])('%s', async (_, features, command, code) => {
    const invoice = await anInvoice(features);
    await expect(processor.payInvoice(invoice, { command })).rejects.toMatchObject({ code });
    expect(await paymentsOf(invoice.payableId)).toEqual([]);
    expect(await processor.payInvoice(invoice)).toMatchObject({ state: 'success', payable: { tries: 1 } });
  });

  test('an invoice has the terms of its own merchant', async () => {
    await aMerchant(processor, { features: { tip: { enabled: true } } });
    const invoice = await anInvoice();
    await expect(processor.payInvoice(invoice, { command: { tipAmount: 1 } })).rejects.toMatchObject({
      code: 'payment.not-accepted',
    });
  });

  test('an invoice of a merchant whose event has not arrived is a 503 with a retry', async () => {
    const payable = anInvoicePayable({ merchantId: 999_999 });
    await processor.open({ payable });
    await expect(processor.payInvoice(payable)).rejects.toMatchObject({ code: 'service.not-ready' });
  });

  test('an invoice with an invalid reference is rejected', async () => {
    await expect(processor.payInvoice(await anInvoice(), { reference: 'x' })).rejects.toMatchObject({
      code: 'request.invalid',
    });
  });
});

test('a retry returns the same payment, also after the merchant has changed its terms', async () => {
  const merchant = await aMerchant(processor, { features: { tip: { enabled: true } } });
  const invoice = await openInvoice(processor, merchant);
  const press = { reference: randomUUID(), command: { tipAmount: 500 } };
  const paid = await processor.payInvoice(invoice, press);
  await aMerchant(processor, { merchantId: merchant.merchantId });
  expect(await processor.payInvoice(invoice, press)).toEqual(paid);
  expect(processor.charged().filter((reference) => reference === paid.paymentReference)).toHaveLength(1);
});

test('the same reference with another amount or tip is a conflict, and charges nothing', async () => {
  const merchant = await aMerchant(processor, { features: { tip: { enabled: true }, amount: { editable: true } } });
  const invoice = await openInvoice(processor, merchant);
  const reference = randomUUID();
  const paid = await processor.payInvoice(invoice, { reference, command: { tipAmount: 500 } });
  const conflict = { code: 'request.idempotency-conflict' };
  for (const command of [{ tipAmount: 0 }, { tipAmount: 500, amount: 10_000 }])
    await expect(processor.payInvoice(invoice, { reference, command })).rejects.toMatchObject(conflict);
  // Also when the merchant's terms no longer allow it.
  await aMerchant(processor, { merchantId: merchant.merchantId });
  await expect(processor.payInvoice(invoice, { reference, command: { tipAmount: 400 } })).rejects.toMatchObject(
    conflict,
  );
  expect(processor.charged().filter((charged) => charged === paid.paymentReference)).toHaveLength(1);
});

test('a session must be paid in full, also if the command has another amount', async () => {
  const session = aPayable();
  const lowered = { amount: 1, tipAmount: 7 } as never;
  await expect(processor.payInvoice(session as never, { command: { amount: 1 } })).rejects.toMatchObject({
    code: 'request.invalid',
    fields: [{ field: 'payable.source' }],
  });
  expect(await processor.pay(session, { command: lowered })).toMatchObject({
    ...{ state: 'success', amount: session.amount, tipAmount: 0, processedAmount: session.amount },
  });
});

test('of a phone and a partner at the same time one is charged and the other rejected, twenty times', async () => {
  const partner = await aPartner(processor);
  const before = processor.charged().length;
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const invoice = await anInvoice();
      const [phone, app] = await Promise.all([
        processor.payInvoice(invoice).then(
          ({ state }) => state,
          ({ code }: { code: string }) => code,
        ),
        partner.pay(invoice).then(({ status }) => status),
      ]);
      return { won: Number(phone === 'success') + Number(app === 201), phone, app };
    }),
  );
  expect(outcomes.map(({ won }) => won)).toEqual(Array(20).fill(1));
  const told = ['success', 'payment.in-progress', 'payable.paid'];
  for (const { phone, app } of outcomes) expect([told.includes(phone), [201, 409].includes(app)]).toEqual([true, true]);
  expect(processor.charged()).toHaveLength(before + 20);
});
