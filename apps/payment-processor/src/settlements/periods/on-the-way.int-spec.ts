/** Money that is on the way: movements at Adyen that no settlement report contains yet. */
import { ReadSettlementV1, type SettlementAmount } from '@svc/contracts';
import { Commands } from '@svc/messaging';
import { DAY_MS, SettledMerchant } from '../../../test/adyen/settled-merchant.js';

let merchant: SettledMerchant;
beforeEach(async () => {
  merchant = await SettledMerchant.start();
});
afterEach(() => merchant.stop());

const zar = (amount: number) => [{ currencyISOCode: 'ZAR', amount }];
async function readOnTheWay(period = '2026-03', siteId?: number): Promise<SettlementAmount[]> {
  const { merchantId, processor } = merchant;
  const request = { merchantId, mode: 'test', period, ...(siteId === undefined ? {} : { siteId }) } as const;
  return (await new Commands(processor.broker).request(ReadSettlementV1, request)).onTheWay;
}

test('a payment, a refund and a dispute are on the way until a report contains them', async () => {
  const first = await merchant.pay(30_000);
  await merchant.refund(first, 4_000);
  expect(await readOnTheWay()).toEqual(zar(26_000));
  await merchant.settle();
  expect(await readOnTheWay()).toEqual([]);
  await merchant.dispute(first, 'CHARGEBACK');
  const second = await merchant.pay(5_000);
  expect(await readOnTheWay()).toEqual(zar(5_000 - 30_000));
  await merchant.settle();
  expect(await readOnTheWay()).toEqual([]);
  expect(second.paymentReference).toMatch(/^\w{18}$/);
});

test('a capture that failed adds up to 0, before and after its report', async () => {
  await merchant.pay(7_000);
  const failed = await merchant.pay(5_000);
  await merchant.failCapture(failed);
  expect(await readOnTheWay()).toEqual(zar(7_000));
  await merchant.settle();
  expect(await readOnTheWay()).toEqual([]);
});

test('only the movements of the period and of the last 14 days are on the way', async () => {
  await merchant.pay(30_000);
  merchant.processor.clock.advance(2 * DAY_MS);
  await merchant.pay(500);
  expect(await readOnTheWay('2026-03-01')).toEqual(zar(30_000));
  expect(await readOnTheWay('2026-03-03')).toEqual(zar(500));
  expect(await readOnTheWay('2026-02')).toEqual([]);
  expect(await readOnTheWay('2026-03', 5001)).toEqual(zar(30_500));
  merchant.processor.clock.advance(13 * DAY_MS);
  expect(await readOnTheWay()).toEqual(zar(500));
  expect(await readOnTheWay('2026-03-01')).toEqual([]);
});
