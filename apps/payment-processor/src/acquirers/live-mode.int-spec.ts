import { buildPayable } from '../../test/builders.js';
import { CARDS } from '../../test/encrypted-card.js';
import { createMerchant, createPartner, openInvoice } from '../../test/partner.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { MerchantAccountRepository } from './merchant-account.repository.js';

const CARD = { cardNumber: CARDS.approved, holderName: 'T Payer', expiryMonth: 12, expiryYear: 2030 };
const LIVE_MODE_UNAVAILABLE = {
  status: 403,
  body: { errors: [{ errorReference: '40', message: expect.stringMatching(/test key/) }] },
};

describe('when no acquirer supports live mode', () => {
  let processor: Processor;
  beforeAll(async () => {
    processor = await startProcessor();
  });
  afterAll(() => processor.stop());
  const countStoredRows = async (): Promise<unknown> =>
    processor.dataSource.query(
      `SELECT (SELECT count(*) FROM payments) AS payments, (SELECT count(*) FROM cards) AS cards`,
    );

  test('a live key can neither pay nor store a card: nothing is stored, and the bank is not called', async () => {
    const merchant = await createMerchant(processor);
    const partner = await createPartner(processor, 'live');
    const before = await countStoredRows();
    await expect(processor.pay(buildPayable({ mode: 'live' }))).rejects.toMatchObject({
      code: 'live-mode.unavailable',
    });
    const invoice = await openInvoice(processor, { ...merchant, mode: 'live' });
    expect(await partner.pay(invoice)).toMatchObject(LIVE_MODE_UNAVAILABLE);
    expect(await partner.call('POST', '/v1/cards', CARD)).toMatchObject(LIVE_MODE_UNAVAILABLE);
    expect([await countStoredRows(), processor.chargedReferences()]).toEqual([before, []]);
  });

  test('a live payment is also rejected if the merchant has a configured account for live mode', async () => {
    const { merchantId } = await createMerchant(processor);
    const account = { acquirer: 'simulated', accountReference: 'MID-live' };
    await processor.service.app
      .get(MerchantAccountRepository)
      .set(processor.dataSource.manager, merchantId, 'live', account, 'admin:test');
    const before = await countStoredRows();
    await expect(processor.pay(buildPayable({ merchantId, mode: 'live' }))).rejects.toMatchObject({
      code: 'live-mode.unavailable',
    });
    expect([await countStoredRows(), processor.chargedReferences()]).toEqual([before, []]);
  });

  test('a payment in test mode succeeds', async () => {
    expect(await processor.pay(buildPayable())).toMatchObject({ state: 'success' });
  });
});

describe('when the simulated acquirer supports live mode', () => {
  test('a live key can pay, store a card and pay with the stored card', async () => {
    const processor = await startProcessor({ SVC_ACQUIRER_LIVE: 'simulated' });
    const merchant = await createMerchant(processor);
    const partner = await createPartner(processor, 'live');
    expect(await processor.pay(buildPayable({ mode: 'live' }))).toMatchObject({ state: 'success', mode: 'live' });
    const { token } = (await partner.call('POST', '/v1/cards', CARD)).body as { token: string };
    const invoice = await openInvoice(processor, { ...merchant, mode: 'live' });
    const paid = await partner.pay(invoice, { paymentMethod: { card: { token } } });
    expect(paid).toMatchObject({ status: 201, body: { status: 'success' } });
    await processor.stop();
  });

  test('after the end of its support, a confirmed verification of a live payment charges nothing', async () => {
    const processor = await startProcessor({ SVC_ACQUIRER_LIVE: 'simulated' });
    try {
      const payable = buildPayable({ mode: 'live' });
      const challenged = await processor.pay(payable, { card: CARDS.verificationRequired });
      jest.spyOn(processor.acquirer, 'supportsMode').mockReturnValue(false);
      await processor.answerChallenge(challenged, 'confirm');
      const payments = await processor.pollPayments(payable);
      expect(payments.map(({ state }) => state)).not.toContain('success');
      expect(processor.chargedReferences()).toEqual([]);
    } finally {
      jest.restoreAllMocks();
      await processor.stop();
    }
  });
});
