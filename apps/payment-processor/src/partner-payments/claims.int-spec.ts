import { PaymentFailedV1, PaymentProcessingV1, PaymentSucceededV1 } from '@svc/contracts';
import { CARDS } from '../../test/encrypted-card.js';
import {
  buildPlainCard,
  createMerchant,
  createPartner,
  openInvoice,
  type PartnerUnderTest,
} from '../../test/partner.js';
import { type Processor, startProcessor } from '../../test/processor.js';

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
afterAll(() => processor.stop());

const createInvoice = (overrides = {}) => openInvoice(processor, { ...merchant, ...overrides });
const findCharges = (references: readonly string[]): string[] =>
  processor.chargedReferences().filter((reference) => references.includes(reference));
const countPayments = async (payable: { payableId: string }): Promise<number> => {
  const [row] = await processor.dataSource.query<[{ count: number }]>(
    `SELECT count(*) FROM payments WHERE payable_id = $1`,
    [payable.payableId],
  );
  return row.count;
};

describe('vouchers and external payments of a partner:', () => {
  const vouchers = [
    { merchantLiable: true, amount: 2_000 },
    { merchantLiable: false, amount: 345 },
  ];
  const external = (status: string) => ({ paymentMethod: { external: { type: 'EFT', status, reference: 'bank-1' } } });
  const createMerchantWithGrants = (grants: { vouchers: boolean; externalPayments: boolean }) =>
    createMerchant(processor, { grants: [{ organisationId: partner.organisationId, ...grants }] });
  const readLedger = (paymentReference: string) =>
    processor.dataSource.query<unknown[]>(
      `SELECT kind, debit_account AS debit, credit_account AS credit, t.amount FROM transfers t JOIN payments USING (payment_id)
        WHERE payment_reference = $1 ORDER BY t.amount`,
      [paymentReference],
    );

  test('they are rejected with 403 if the merchant has not granted them, or if a customer sends them', async () => {
    const invoice = await createInvoice();
    for (const claim of [{ vouchers }, external('success')])
      expect((await partner.pay(invoice, claim)).status).toBe(403);
    merchant = await createMerchantWithGrants({ vouchers: true, externalPayments: true });
    const customer = await partner.customer();
    for (const claim of [{ vouchers }, external('success')])
      expect((await customer.pay(await createInvoice(), claim)).status).toBe(403);
    merchant = await createMerchantWithGrants({ vouchers: false, externalPayments: true });
    expect((await partner.pay(await createInvoice(), { vouchers })).status).toBe(403);
    merchant = await createMerchantWithGrants({ vouchers: true, externalPayments: false });
    expect((await partner.pay(await createInvoice(), external('success'))).status).toBe(403);
    expect(await countPayments(invoice)).toBe(0);
  });

  test('vouchers cover a part of the amount, the card pays the rest, and the ledger contains the debt of each party', async () => {
    merchant = await createMerchantWithGrants({ vouchers: true, externalPayments: false });
    const { body } = await partner.pay(await createInvoice(), { vouchers });
    expect(body).toMatchObject({ status: 'success', processedAmount: 10_000, paymentMethodType: 'Card' });
    const payable = `test:merchant:${merchant.merchantId}:payable`;
    expect(await readLedger(body.paymentReference)).toEqual([
      { kind: 'voucher', debit: 'test:service:vouchers', credit: payable, amount: 345 },
      {
        kind: 'voucher',
        debit: `test:merchant:${merchant.merchantId}:vouchers`,
        credit: `test:merchant:${merchant.merchantId}:redeemed`,
        amount: 2_000,
      },
      { kind: 'capture', debit: 'test:acquirer:simulated:receivable', credit: payable, amount: 10_000 },
    ]);
    expect((await processor.published(PaymentSucceededV1)).at(-1)!.payload).toMatchObject({ vouchers });
  });

  test('vouchers cannot pay a tip: it is charged to the card, or paid externally', async () => {
    merchant = await createMerchant(processor, {
      features: { tip: { enabled: true } },
      grants: [{ organisationId: partner.organisationId, vouchers: true, externalPayments: true }],
    });
    const invoice = await createInvoice();
    const fullVoucher = [{ merchantLiable: false, amount: invoice.amount }];
    const { body } = await partner.pay(invoice, { vouchers, tipAmount: 500 });
    expect(body).toMatchObject({ status: 'success', tipAmount: 500, processedAmount: 10_500 });
    expect((await readLedger(body.paymentReference)).at(-1)).toMatchObject({ kind: 'capture', amount: 10_500 });

    const withoutCard = await partner.pay(await createInvoice(), {
      vouchers: fullVoucher,
      tipAmount: 500,
      paymentMethod: undefined,
    });
    expect([withoutCard.status, withoutCard.body.errors[0].field]).toEqual([400, 'paymentMethod']);
    const withTip = await partner.pay(await createInvoice(), { vouchers: fullVoucher, tipAmount: 500 });
    expect(withTip.body).toMatchObject({ status: 'success', processedAmount: 500, paymentMethodType: 'Card' });
    expect(findCharges([withTip.body.paymentReference])).toHaveLength(1);
    const externalWithTip = await partner.pay(await createInvoice(), {
      vouchers,
      tipAmount: 500,
      ...external('success'),
    });
    expect(externalWithTip.body).toMatchObject({ status: 'success', processedAmount: 10_500 });
    expect((await readLedger(externalWithTip.body.paymentReference)).at(-1)).toMatchObject({
      kind: 'external',
      amount: 10_500,
    });
  });

  test('a grant is valid only for the merchant that gave it and the partner that received it', async () => {
    const grantingMerchant = await createMerchantWithGrants({ vouchers: true, externalPayments: true });
    const otherPartner = await createPartner(processor);
    const invoiceWithGrant = await createInvoice(grantingMerchant);
    for (const claim of [{ vouchers }, external('success')]) {
      expect((await partner.pay(await createInvoice(), claim)).status).toBe(403);
      expect((await otherPartner.pay(invoiceWithGrant, claim)).status).toBe(403);
    }
    expect((await partner.pay(invoiceWithGrant, { vouchers })).status).toBe(201);
  });

  test('vouchers of a failed payment have no transfers', async () => {
    merchant = await createMerchantWithGrants({ vouchers: true, externalPayments: false });
    const declined = { paymentMethod: { card: buildPlainCard({ cardNumber: CARDS.declined }) } };
    const { body } = await partner.pay(await createInvoice(), { vouchers, ...declined });
    expect(body).toMatchObject({ status: 'failed', processedAmount: 0 });
    expect(await readLedger(body.paymentReference)).toEqual([]);
  });

  test('if vouchers cover the whole amount, no card is needed, and the acquirer is not called', async () => {
    merchant = await createMerchantWithGrants({ vouchers: true, externalPayments: false });
    const invoice = await createInvoice();
    const fullVoucher = [{ merchantLiable: false, amount: invoice.amount }];
    const { status, body } = await partner.pay(invoice, { vouchers: fullVoucher, paymentMethod: undefined });
    expect([status, body]).toEqual([
      201,
      expect.objectContaining({ status: 'success', processedAmount: 0, paymentMethodType: 'Voucher' }),
    ]);
    expect(findCharges([body.paymentReference])).toEqual([]);
    expect(await readLedger(body.paymentReference)).toHaveLength(1);
    expect((await partner.pay(invoice)).status).toBe(409);
  });

  test('an external payment is booked as a debt of the partner; a failed external payment leaves the invoice open', async () => {
    merchant = await createMerchantWithGrants({ vouchers: false, externalPayments: true });
    const invoice = await createInvoice();
    const failed = await partner.pay(invoice, external('failed'));
    expect(failed).toMatchObject({
      status: 201,
      body: { status: 'failed', paymentMethodType: 'External', errors: [{ errorReference: '10' }] },
    });
    const { paymentReference: reference } = failed.body as { paymentReference: string };
    const failedEvents = (await processor.published(PaymentFailedV1)).filter(
      ({ payload }) => payload.paymentReference === reference,
    );
    expect(failedEvents.map(({ payload }) => payload.payable.state)).toEqual(['open']);
    expect(await readLedger(reference)).toEqual([]);
    const { body } = await partner.pay(invoice, external('success'));
    expect(body).toMatchObject({ status: 'success', paymentMethodDescription: 'EFT', processedAmount: 12345 });
    expect(findCharges([body.paymentReference])).toEqual([]);
    // Each event contains the partner's own reference, so that the partner's records can be compared with the
    // platform's.
    const publishedEvents = [
      ...(await processor.published(PaymentProcessingV1)),
      ...(await processor.published(PaymentSucceededV1)),
    ];
    const eventsOfPayment = publishedEvents.filter(({ payload }) => payload.paymentReference === body.paymentReference);
    expect(eventsOfPayment.map(({ payload }) => payload)).toEqual([
      expect.objectContaining({ state: 'processing', externalPaymentReference: 'bank-1' }),
      expect.objectContaining({ state: 'success', externalPaymentReference: 'bank-1' }),
    ]);
    expect(await readLedger(body.paymentReference)).toEqual([
      {
        kind: 'external',
        debit: `test:organisation:${partner.organisationId}:receivable`,
        credit: `test:merchant:${merchant.merchantId}:payable`,
        amount: 12345,
      },
    ]);
  });
});
