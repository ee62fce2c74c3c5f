/** The balance before a period: what is stored of the past, and from where it is continued. */
import { type BookedShop, openBookedShop } from '../../../test/books/booked-shop.js';
import { type Processor, startProcessor } from '../../../test/processor.js';
import { SettlementRepository } from '../settlement.repository.js';

let processor: Processor;
beforeEach(async () => {
  processor = await startProcessor({ SVC_ACQUIRER_LIVE: 'simulated' });
});
afterEach(() => processor.stop());

const advanceTo = (time: string): void => processor.clock.advance(Date.parse(time) - processor.clock.now().getTime());
const zar = (amount: number) => (amount === 0 ? [] : [{ currencyISOCode: 'ZAR', amount }]);

describe('a balance of the past', () => {
  const storedBalances = ({ merchantId }: BookedShop) =>
    processor.dataSource.query<object[]>(
      `SELECT mode, site_id AS "siteId", at, amounts FROM merchant_balances WHERE merchant_id = $1 ORDER BY site_id, at`,
      [merchantId],
    );
  const balance = (at: string, amount: number, siteId = 0) => ({
    mode: 'test',
    siteId,
    at: new Date(at),
    amounts: zar(amount),
  });

  test('is stored at the beginning of each sealed month, so that a later call reads only the movements since', async () => {
    advanceTo('2026-05-15T10:00:00Z');
    const shop = await openBookedShop(processor);
    await shop.book([
      ['2026-03-20T10:00:00Z', 1],
      ['2026-03-31T23:59:59.999Z', 20],
      ['2026-04-01T00:00:00Z', 300],
    ]);
    await shop.book([['2026-04-20T10:00:00Z', 4_000]], 5002);
    expect((await shop.read('2026-05-10')).opening).toEqual(zar(4_321));
    expect(await storedBalances(shop)).toEqual([]);
    await processor.sealLedger();
    expect((await shop.read('2026-05-10')).opening).toEqual(zar(4_321));
    expect((await shop.read('2026-05-10', { siteId: 5002 })).opening).toEqual(zar(4_000));
    const stored = [
      balance('2026-04-01T00:00:00Z', 21),
      balance('2026-05-01T00:00:00Z', 4_321),
      balance('2026-04-01T00:00:00Z', 0, 5002),
      balance('2026-05-01T00:00:00Z', 4_000, 5002),
    ];
    expect(await storedBalances(shop)).toEqual(stored);
    const sumUp = jest.spyOn(processor.service.app.get(SettlementRepository), 'sumUp');
    expect((await shop.read('2026-05-10')).opening).toEqual(zar(4_321));
    expect((await shop.read('2026-04-10')).opening).toEqual(zar(321));
    expect(sumUp.mock.calls.map(([, { start, end }]) => [start.toISOString(), end.toISOString()])).toEqual([
      ['2026-05-01T00:00:00.000Z', '2026-05-09T22:00:00.000Z'],
      ['2026-04-01T00:00:00.000Z', '2026-04-09T22:00:00.000Z'],
    ]);
    expect(await storedBalances(shop)).toEqual(stored);
  });

  test('of another merchant, mode or site is not used', async () => {
    advanceTo('2026-03-15T10:00:00Z');
    const shop = await openBookedShop(processor);
    await shop.book([['2026-01-20T10:00:00Z', 20]]);
    for (const [merchantId, mode, siteId] of [
      [shop.merchantId + 1, 'test', 0],
      [shop.merchantId, 'live', 0],
      [shop.merchantId, 'test', 5002],
    ])
      await processor.dataSource.query(
        `INSERT INTO merchant_balances (merchant_id, mode, site_id, at, amounts) VALUES ($1, $2, $3, '2026-02-01T00:00:00Z', $4)`,
        [merchantId, mode, siteId, JSON.stringify(zar(999))],
      );
    expect((await shop.read('2026-03')).opening).toEqual(zar(20));
    expect((await shop.read('2026-03', { siteId: 5001 })).opening).toEqual(zar(20));
    // A balance after the time is not used either.
    expect((await shop.read('2026-01', { siteId: 5002 })).opening).toEqual([]);
  });

  test('that takes too long is continued by a repeat', async () => {
    advanceTo('2026-03-15T10:00:00Z');
    const shop = await openBookedShop(processor);
    await shop.book([
      ['2025-11-20T10:00:00Z', 1],
      ['2026-01-20T10:00:00Z', 20],
    ]);
    await processor.sealLedger();
    const settlements = processor.service.app.get(SettlementRepository);
    const sumUp = settlements.sumUp.bind(settlements);
    const slow = jest.spyOn(settlements, 'sumUp').mockImplementation((...parameters) => {
      processor.clock.advance(3_000);
      return sumUp(...parameters);
    });
    await expect(shop.read('2026-03')).rejects.toMatchObject({ code: 'service.not-ready', retryAfterSeconds: 1 });
    expect(slow).toHaveBeenCalledTimes(2);
    expect((await shop.read('2026-03')).opening).toEqual(zar(21));
  });

  test('at the time of a stored one needs no movement', async () => {
    advanceTo('2026-05-15T10:00:00Z');
    const shop = await openBookedShop(processor, { zone: 'UTC' });
    await shop.book([['2026-03-20T10:00:00Z', 5]]);
    await processor.sealLedger();
    const sumUp = jest.spyOn(processor.service.app.get(SettlementRepository), 'sumUp');
    expect((await shop.read('2026-05')).opening).toEqual(zar(5));
    expect(sumUp).toHaveBeenCalledTimes(2);
    expect((await shop.read('2026-05')).opening).toEqual(zar(5));
    expect(sumUp).toHaveBeenCalledTimes(2);
  });

  test('begins with the first movement of the merchant and the mode', async () => {
    advanceTo('2026-03-15T10:00:00Z');
    const [shop, other, live] = [
      await openBookedShop(processor),
      await openBookedShop(processor),
      await openBookedShop(processor, { mode: 'live' }),
    ];
    for (const earlier of [other, live]) await earlier.book([['2025-06-01T10:00:00Z', 7]]);
    await shop.book([['2026-02-20T10:00:00Z', 20]]);
    const sumUp = jest.spyOn(processor.service.app.get(SettlementRepository), 'sumUp');
    expect((await shop.read('2026-03-10')).opening).toEqual(zar(20));
    expect(sumUp.mock.calls[0]![1].start).toEqual(new Date('2026-02-20T10:00:00Z'));
    expect((await shop.read('2026-03-10', { mode: 'live' })).opening).toEqual([]);
    expect(sumUp).toHaveBeenCalledTimes(2);
  });
});
