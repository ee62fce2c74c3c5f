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

/**
 * The day that the tests reconcile. The book `history` is the list of the payments of one day in this service. A digest
 * contains the number and the hash of the payments of one merchant and mode in the book.
 */
const DAY = { from: '2026-03-01T00:00:00.000Z', until: '2026-03-02T00:00:00.000Z' };
let lastMerchantId = 0;
/** Returns an id that no other test uses. */
const newMerchantId = (): number => ++lastMerchantId;

async function deliverPayment(overrides: Partial<PartnerPayment> = {}): Promise<PartnerPayment> {
  const payment = aPayment(randomUUID(), 'customer', overrides);
  await history.deliver(paymentEvent(payment));
  return payment;
}
const requestDigests = async (merchant: number, range = DAY) =>
  (await commands.request(DigestHistoryV1, { book: 'history', merchantId: merchant, ...range })).digests;
const requestLines = async (
  merchant: number,
  mode: Mode = 'test',
  overrides: Partial<LinesRequest> = {},
): Promise<readonly BookLine[]> =>
  (await commands.request(ListHistoryV1, { book: 'history', merchantId: merchant, mode, ...DAY, ...overrides })).lines;

test('each merchant and mode has its own digest, and a request without a merchant returns the digests of all merchants', async () => {
  const [firstMerchant, otherMerchant] = [newMerchantId(), newMerchantId()];
  const payments = [{}, { amount: 20_000 }, { mode: 'live' as const }].map((overrides) =>
    aPayment(randomUUID(), 'c', overrides),
  );
  for (const payment of payments) await history.deliver(paymentEvent({ ...payment, merchantId: firstMerchant }));
  // Payments of the other merchant need other references, because a reference is unique.
  for (const payment of payments.toReversed())
    await history.deliver(
      paymentEvent({
        ...payment,
        merchantId: otherMerchant,
        paymentReference: `${payment.paymentReference.slice(0, 17)}0`,
      }),
    );
  const [live, test] = await requestDigests(firstMerchant);
  // The amount of a digest is the sum of the processed amounts: each payment has a processed amount of 13 345 cents.
  expect([live, test]).toMatchObject([
    { merchantId: firstMerchant, mode: 'live', count: 1, amount: 13_345, open: 0 },
    { merchantId: firstMerchant, mode: 'test', count: 2, amount: 26_690, open: 0 },
  ]);
  expect(live!.hash).not.toBe(test!.hash);
  expect((await commands.request(DigestHistoryV1, { book: 'history', ...DAY })).digests).toEqual(
    expect.arrayContaining([live, test, ...(await requestDigests(otherMerchant))]),
  );
});

test('the hash of a digest changes with each compared field of a row, but not with the name of the customer', async () => {
  const merchant = newMerchantId();
  const payment = await deliverPayment({ merchantId: merchant });
  const [digestBefore] = await requestDigests(merchant);
  const updatePayment = async (assignment: string): Promise<string> => {
    await history.dataSource.query(`UPDATE payments SET ${assignment} WHERE payment_reference = $1`, [
      payment.paymentReference,
    ]);
    return (await requestDigests(merchant))[0]!.hash;
  };
  expect(await updatePayment(`first_name = 'Another'`)).toBe(digestBefore!.hash);
  const hashes = new Set([digestBefore!.hash]);
  for (const assignment of [
    'amount = amount + 1',
    `site_reference = 'X'`,
    `errors = '[{}]'`,
    'version = 9',
    `customer_id = 'x'`,
  ])
    hashes.add(await updatePayment(assignment));
  // There are six different hashes: one before the changes, and a new hash after each of the five changes.
  expect(hashes.size).toBe(6);
});

test('a payment belongs to the day on which it was accepted, from the first to the last millisecond of the day', async () => {
  const merchant = newMerchantId();
  for (const paymentUTCDate of ['2026-02-28T23:59:59.999Z', DAY.from, '2026-03-01T23:59:59.999Z', DAY.until])
    await deliverPayment({ merchantId: merchant, paymentUTCDate });
  expect((await requestLines(merchant)).map(({ line }) => line!['paymentUTCDate']).toSorted()).toEqual([
    DAY.from,
    '2026-03-01T23:59:59.999Z',
  ]);
  expect(await requestDigests(merchant)).toMatchObject([{ count: 2 }]);
});

test.each(['processing', 'verificationRequired'] as const)(
  'a payment that is not final (%s) is not part of a digest',
  async (state) => {
    const merchant = newMerchantId();
    await deliverPayment({ merchantId: merchant, state, processedAmount: 0 });
    expect(await requestDigests(merchant)).toEqual([]);
  },
);

test('a failed payment is part of a digest', async () => {
  const merchant = newMerchantId();
  await deliverPayment({ merchantId: merchant, state: 'failed', processedAmount: 0 });
  expect(await requestDigests(merchant)).toMatchObject([{ count: 1, amount: 0 }]);
});

test('the rows of one merchant and mode are listed in pages', async () => {
  const [merchant, otherMerchant] = [newMerchantId(), newMerchantId()];
  const [first, second] = (await Promise.all([1, 2].map(() => deliverPayment({ merchantId: merchant })))).toSorted(
    (a, b) => (a.paymentReference < b.paymentReference ? -1 : 1),
  );
  await deliverPayment({ merchantId: merchant, mode: 'live' });
  await deliverPayment({ merchantId: otherMerchant });
  const keysOf = (lines: readonly BookLine[]): string[] => lines.map(({ key }) => key);
  expect(keysOf(await requestLines(merchant))).toEqual([first!.paymentReference, second!.paymentReference]);
  expect(keysOf(await requestLines(merchant, 'test', { after: first!.paymentReference }))).toEqual([
    second!.paymentReference,
  ]);
  expect(keysOf(await requestLines(merchant, 'live'))).toHaveLength(1);
});

test.each([
  { generation: 'the generation of the read model that is being built', difference: 1 },
  { generation: 'a retired generation of the read model', difference: -1 },
])('a digest does not include $generation', async ({ difference }) => {
  const merchant = newMerchantId();
  await deliverPayment({ merchantId: merchant });
  await history.dataSource.query(`UPDATE payments SET generation = generation + $2 WHERE merchant_id = $1`, [
    merchant,
    difference,
  ]);
  expect(await requestDigests(merchant)).toEqual([]);
});
