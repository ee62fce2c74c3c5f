/**
 * Tests which payments and payables a caller can find, and that a payable that changes between its reading and its
 * reservation is not charged.
 */
import { randomUUID } from 'node:crypto';
import { PaymentProcessingV1, SessionCreatedV1 } from '@svc/contracts';
import { newOwnCode } from '@svc/kernel';
import { anEvent } from '@svc/testing';
import { changeRow } from '../../test/attempts/open-attempt.js';
import { buildPayable } from '../../test/builders.js';
import { createMerchant, createPartner, openInvoice, type PartnerUnderTest } from '../../test/partner.js';
import { CODES_URL, type Processor, startProcessor } from '../../test/processor.js';
import { PartnerPaymentRepository } from './partner-payment.repository.js';

let processor: Processor;
let partner: PartnerUnderTest;
let merchant: { merchantId: number; siteId: number };
beforeAll(async () => {
  processor = await startProcessor({ SVC_ACQUIRER_LIVE: 'simulated' });
});
beforeEach(async () => {
  partner = await createPartner(processor);
  merchant = await createMerchant(processor);
});
afterEach(() => jest.restoreAllMocks());
afterAll(() => processor.stop());

describe('a payable with a concurrent change', () => {
  /** Changes the payable once, after the statement that reads it and before the statement that reserves it. */
  function changeAfterReading(change: string): void {
    const payments = processor.service.app.get(PartnerPaymentRepository);
    const findPayable = payments.findPayable.bind(payments);
    jest.spyOn(payments, 'findPayable').mockImplementationOnce(async (mode, payableId) => {
      const payableToPay = await findPayable(mode, payableId);
      await changeRow(processor, `UPDATE payables SET ${change} WHERE payable_id = $1`, payableId);
      return payableToPay;
    });
  }
  const findPayments = (payableId: string): Promise<unknown[]> =>
    processor.dataSource.query(`SELECT 1 FROM payments WHERE payable_id = $1`, [payableId]);

  test.each([
    ['is closed', `state = 'closed'`, 409, '20'],
    ['has expired', `expires_at = '2026-03-01T10:00:00.000Z'`, 410, '20'],
    ['has no payment left', `payment_count = max_payments`, 409, '23'],
  ])('is not charged when it %s', async (_, change, status, errorReference) => {
    const invoice = await openInvoice(processor, merchant);
    changeAfterReading(change);
    const response = await partner.pay(invoice);
    expect([response.status, response.body.errors?.[0].errorReference]).toEqual([status, errorReference]);
    expect(await findPayments(invoice.payableId)).toEqual([]);
  });

  test.each([
    ['a later version', `version = version + 2, payment_count = payment_count + 1`, { version: 4, paymentCount: 2 }],
    ['an earlier version', `version = version - 1`, { version: 1, paymentCount: 1 }],
  ])('is read again when it has %s, and its event contains the next version', async (_, change, expected) => {
    const invoice = await openInvoice(processor, merchant);
    const otherInvoice = await openInvoice(processor, merchant);
    changeAfterReading(change);
    const { status, body } = await partner.pay(invoice);
    expect([status, body.status]).toEqual([201, 'success']);
    const [event] = (await processor.published(PaymentProcessingV1)).filter(
      ({ payload }) => payload.paymentReference === body.paymentReference,
    );
    expect(event!.payload.payable).toMatchObject(expected);
    expect(await findPayments(otherInvoice.payableId)).toEqual([]);
  });

  test('is not paid by an external payment when it has expired', async () => {
    const grant = { organisationId: partner.organisationId, vouchers: false, externalPayments: true };
    const invoice = await openInvoice(processor, await createMerchant(processor, { grants: [grant] }));
    changeAfterReading(`expires_at = '2026-03-01T10:00:00.000Z'`);
    const external = { type: 'EFT', status: 'success', reference: 'bank-1' };
    expect((await partner.pay(invoice, { paymentMethod: { external } })).status).toBe(410);
    expect(await findPayments(invoice.payableId)).toEqual([]);
  });
});

test('an invoice can be paid until the last millisecond before its expiry', async () => {
  const [invoice, expiredInvoice] = await Promise.all(
    ['2026-03-01T10:00:00.001Z', '2026-03-01T10:00:00.000Z'].map((expiresAt) =>
      openInvoice(processor, { ...merchant, expiresAt }),
    ),
  );
  expect((await partner.pay(invoice!)).status).toBe(201);
  expect((await partner.pay(expiredInvoice!)).status).toBe(410);
});

test('a session cannot be paid before the event of its site has arrived, because the payment needs the site’s reference', async () => {
  const payable = buildPayable({ ...merchant, siteId: 5999 });
  await processor.deliver(anEvent(SessionCreatedV1, payable.payableId, 1, { payable }));
  const { status, body } = await partner.pay(payable);
  expect([status, body.errors[0].errorReference]).toEqual([503, '50']);
  expect(await processor.findPayable(payable.payableId)).toMatchObject({ payable: { state: 'open', paymentCount: 0 } });
});

describe('the reference of a payment', () => {
  async function createCallers(): Promise<PartnerUnderTest[]> {
    return [partner, await createPartner(processor, 'live', partner.organisationId), await createPartner(processor)];
  }
  const modes = ['test', 'live', 'test'] as const;

  test.each(['sequentially', 'concurrently'])(
    'identifies a different payment for each organisation and mode, if these use it %s',
    async (callOrder) => {
      const [reference, customer] = [randomUUID(), { id: randomUUID() }];
      const payers = await createCallers();
      const invoices = await Promise.all(modes.map((mode) => openInvoice(processor, { ...merchant, mode })));
      const pay = (nth: number) => payers[nth]!.pay(invoices[nth]!, { reference, customer });
      const payments =
        callOrder === 'concurrently'
          ? await Promise.all(payers.map((_, nth) => pay(nth)))
          : [await pay(0), await pay(1), await pay(2)];
      expect(payments.map(({ status, body }) => [status, body.invoiceReference])).toEqual(
        invoices.map(({ payableId }) => [201, payableId]),
      );
      const retried = [await pay(0), await pay(1), await pay(2)];
      expect(retried.map(({ status, body }) => [status, body.paymentReference])).toEqual(
        payments.map(({ body }) => [200, body.paymentReference]),
      );
    },
  );

  test('identifies one of two payments of an organisation', async () => {
    const [firstReference, secondReference] = [randomUUID(), randomUUID()];
    const customer = { id: randomUUID() };
    const invoices = [await openInvoice(processor, merchant), await openInvoice(processor, merchant)];
    const pay = async (reference: string, nth: number) =>
      (await partner.pay(invoices[nth]!, { reference, customer })).body.paymentReference as string;
    const payments = [await pay(firstReference, 0), await pay(secondReference, 1)];
    expect([await pay(firstReference, 0), await pay(secondReference, 1)]).toEqual(payments);
  });
});

test('a search by a partner’s reference fails if the payment found is not a partner’s payment', async () => {
  const [invoice, reference] = [await openInvoice(processor, merchant), randomUUID()];
  await partner.pay(invoice, { reference });
  const owner = { organisationId: partner.organisationId, mode: 'test' } as const;
  const payments = processor.service.app.get(PartnerPaymentRepository);
  expect(await payments.findByReference(owner, reference)).toMatchObject({ payment: { state: 'success' } });
  await changeRow(processor, `UPDATE payments SET partner = NULL WHERE payable_id = $1`, invoice.payableId);
  await expect(payments.findByReference(owner, reference)).rejects.toThrow('is not a partner’s');
});

test('a payable with a code can be found only in its own mode', async () => {
  const livePartner = await createPartner(processor, 'live', partner.organisationId);
  for (const [mode, owner, callerInOtherMode] of [
    ['test', partner, livePartner],
    ['live', livePartner, partner],
  ] as const) {
    const code = newOwnCode();
    const payable = buildPayable({ ...merchant, mode });
    const source = { ...payable.source, code };
    await processor.deliver(anEvent(SessionCreatedV1, payable.payableId, 1, { payable: { ...payable, source } }));
    const codeRequest = { invoiceReference: undefined, code: Buffer.from(`${CODES_URL}/c/${code}`).toString('base64') };
    for (const identification of [codeRequest, {}]) {
      const { status, body } = await callerInOtherMode.pay(payable, identification);
      expect([mode, status, body.errors[0].errorReference]).toEqual([mode, 404, '21']);
    }
    expect((await owner.pay(payable, codeRequest)).body).toMatchObject({ invoiceReference: payable.payableId });
  }
});
