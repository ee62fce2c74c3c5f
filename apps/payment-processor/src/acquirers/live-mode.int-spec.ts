import { aPayable } from '../../test/builders.js';
import { CARDS } from '../../test/encrypted-card.js';
import { aMerchant, aPartner, openInvoice } from '../../test/partner.js';
import { type Processor, startProcessor } from '../../test/processor.js';

const CARD = { cardNumber: CARDS.approved, holderName: 'T Payer', expiryMonth: 12, expiryYear: 2030 };
const REFUSED = {
  status: 403,
  body: { errors: [{ errorReference: '40', message: expect.stringMatching(/test key/) }] },
};

describe('without a live acquirer', () => {
  let processor: Processor;
  beforeAll(async () => {
    processor = await startProcessor();
  });
  afterAll(() => processor.stop());
  const recordedRows = async (): Promise<unknown> =>
    processor.dataSource.query(
      `SELECT (SELECT count(*) FROM payments) AS payments, (SELECT count(*) FROM cards) AS cards`,
    );

  test('a live key can neither pay nor store a card: nothing is recorded, and the bank is not called', async () => {
    const merchant = await aMerchant(processor);
    const partner = await aPartner(processor, 'live');
    const before = await recordedRows();
    await expect(processor.pay(aPayable({ mode: 'live' }))).rejects.toMatchObject({ code: 'live-mode.unavailable' });
    const invoice = await openInvoice(processor, { ...merchant, mode: 'live' });
    expect(await partner.pay(invoice)).toMatchObject(REFUSED);
    expect(await partner.call('POST', '/v1/cards', CARD)).toMatchObject(REFUSED);
    expect([await recordedRows(), processor.charged()]).toEqual([before, []]);
  });

  test('a test key pays', async () => {
    expect(await processor.pay(aPayable())).toMatchObject({ state: 'success' });
  });
});

describe('with the simulated acquirer for live mode', () => {
  test('a live key pays, stores a card and pays with it', async () => {
    const processor = await startProcessor({ SVC_ACQUIRER_LIVE: 'simulated' });
    const merchant = await aMerchant(processor);
    const partner = await aPartner(processor, 'live');
    expect(await processor.pay(aPayable({ mode: 'live' }))).toMatchObject({ state: 'success', mode: 'live' });
    const { token } = (await partner.call('POST', '/v1/cards', CARD)).body as { token: string };
    const invoice = await openInvoice(processor, { ...merchant, mode: 'live' });
    const paid = await partner.pay(invoice, { paymentMethod: { card: { token } } });
    expect(paid).toMatchObject({ status: 201, body: { status: 'success' } });
    await processor.stop();
  });
});
