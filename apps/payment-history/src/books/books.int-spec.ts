import { randomUUID } from 'node:crypto';
import {
  type BookLine,
  DigestHistoryV1,
  type LinesRequest,
  ListHistoryV1,
  type Mode,
  type PartnerPayment,
} from '@svc/contracts';
import { Commands } from '@svc/messaging';
import { aPayment, paymentEvent } from '@svc/testing';
import { type History, startHistory } from '../../test/history.js';

let history: History;
let commands: Commands;
beforeAll(async () => {
  history = await startHistory();
  commands = new Commands(history.broker);
});
afterAll(() => history.stop());

const DAY = { from: '2026-03-01T00:00:00.000Z', until: '2026-03-02T00:00:00.000Z' };
let merchantId = 0;
const aMerchant = (): number => (merchantId += 10);

async function pay(over: Partial<PartnerPayment> = {}): Promise<PartnerPayment> {
  const payment = aPayment(randomUUID(), 'customer', over);
  await history.deliver(paymentEvent(payment));
  return payment;
}
const digestsOf = async (merchant: number, range = DAY) =>
  (await commands.request(DigestHistoryV1, { book: 'history', merchantId: merchant, ...range })).digests;
const linesOf = async (
  merchant: number,
  mode: Mode = 'test',
  over: Partial<LinesRequest> = {},
): Promise<readonly BookLine[]> =>
  (await commands.request(ListHistoryV1, { book: 'history', merchantId: merchant, mode, ...DAY, ...over })).lines;

test('a digest for each merchant and mode is the same for the same payments in any order', async () => {
  const [one, other] = [aMerchant(), aMerchant()];
  const payments = [{}, { amount: 20_000 }, { mode: 'live' as const }].map((over) => aPayment(randomUUID(), 'c', over));
  for (const payment of payments) await history.deliver(paymentEvent({ ...payment, merchantId: one }));
  for (const payment of payments.toReversed())
    await history.deliver(
      paymentEvent({ ...payment, merchantId: other, paymentReference: `${payment.paymentReference.slice(0, 17)}0` }),
    );
  const [live, test] = await digestsOf(one);
  expect([live, test]).toMatchObject([
    { merchantId: one, mode: 'live', count: 1, amount: 13_345, open: 0 },
    { merchantId: one, mode: 'test', count: 2, amount: 26_690, open: 0 },
  ]);
  expect(live!.hash).not.toBe(test!.hash);
  expect((await commands.request(DigestHistoryV1, { book: 'history', ...DAY })).digests).toEqual(
    expect.arrayContaining([live, test, ...(await digestsOf(other))]),
  );
});

test('the hash changes with every field of a row, and with nothing else', async () => {
  const merchant = aMerchant();
  const payment = await pay({ merchantId: merchant });
  const [before] = await digestsOf(merchant);
  const change = async (set: string): Promise<string> => {
    await history.dataSource.query(`UPDATE payments SET ${set} WHERE payment_reference = $1`, [
      payment.paymentReference,
    ]);
    return (await digestsOf(merchant))[0]!.hash;
  };
  expect(await change(`first_name = 'Another'`)).toBe(before!.hash);
  const hashes = new Set([before!.hash]);
  for (const set of [
    'amount = amount + 1',
    `site_reference = 'X'`,
    `errors = '[{}]'`,
    'version = 9',
    `customer_id = 'x'`,
  ])
    hashes.add(await change(set));
  expect(hashes.size).toBe(6);
});

test('a payment belongs to the day on which it was accepted, from its first millisecond to its last', async () => {
  const merchant = aMerchant();
  for (const paymentUTCDate of ['2026-02-28T23:59:59.999Z', DAY.from, '2026-03-01T23:59:59.999Z', DAY.until])
    await pay({ merchantId: merchant, paymentUTCDate });
  expect((await linesOf(merchant)).map(({ line }) => line!['paymentUTCDate']).toSorted()).toEqual([
    DAY.from,
    '2026-03-01T23:59:59.999Z',
  ]);
  expect(await digestsOf(merchant)).toMatchObject([{ count: 2 }]);
});

test('a payment that is not final is not part of a digest', async () => {
  const merchant = aMerchant();
  await pay({ merchantId: merchant, state: 'processing', processedAmount: 0 });
  expect(await digestsOf(merchant)).toEqual([]);
});

test('lines are returned in pages, for one merchant and mode', async () => {
  const [merchant, other] = [aMerchant(), aMerchant()];
  const [first, second] = (await Promise.all([1, 2].map(() => pay({ merchantId: merchant })))).toSorted((a, b) =>
    a.paymentReference < b.paymentReference ? -1 : 1,
  );
  await pay({ merchantId: merchant, mode: 'live' });
  await pay({ merchantId: other });
  const keysOf = (lines: readonly BookLine[]): string[] => lines.map(({ key }) => key);
  expect(keysOf(await linesOf(merchant))).toEqual([first!.paymentReference, second!.paymentReference]);
  expect(keysOf(await linesOf(merchant, 'test', { after: first!.paymentReference }))).toEqual([
    second!.paymentReference,
  ]);
  expect(keysOf(await linesOf(merchant, 'live'))).toHaveLength(1);
});

test('a generation that is being built is not compared', async () => {
  const merchant = aMerchant();
  await pay({ merchantId: merchant });
  await history.dataSource.query(`UPDATE payments SET generation = generation + 1 WHERE merchant_id = $1`, [merchant]);
  expect(await digestsOf(merchant)).toEqual([]);
});
