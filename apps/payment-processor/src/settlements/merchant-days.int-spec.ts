/**
 * A merchant trades around midnights of its time zone, also when the clocks or the zone change. Statement, CSV and
 * ledger agree to the cent, and each movement is in exactly one day. PostgreSQL computes the expected days, with its own
 * rules of time zones.
 */
import type { TimeZonePeriod } from '@svc/contracts';
import { addDays, changeTimeZone, LocalCalendar } from '@svc/kernel';
import { openOlderTransaction } from '@svc/testing';
import { createTransferWriter, readSeals, type TransferWriter } from '../../test/books/ledger.js';
import { createMerchant } from '../../test/partner.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { SimulatedMerchant } from '../../test/simulated-merchant.js';

const HOUR_MS = 3_600_000;

let processor: Processor;
beforeEach(async () => {
  processor = await startProcessor();
});
afterEach(() => processor.stop());

const advanceTo = (time: Date): void => processor.clock.advance(time.getTime() - processor.clock.now().getTime());

/** Pays at each of these times, and refunds a part of a payment after every third one. Every amount is different. */
async function trade(merchant: SimulatedMerchant, times: readonly Date[]): Promise<void> {
  for (const [nth, time] of times.entries()) {
    advanceTo(time);
    await merchant.payOnPage(10_000 + 7 * nth);
    if (nth % 3 === 2) await merchant.refund(100 + nth);
  }
}

/** Every six hours of these days, and the last and the first millisecond around each of their midnights. */
function timesOfTrade(calendar: LocalCalendar, days: readonly string[]): Date[] {
  const midnights = [...days, addDays(days.at(-1)!)].map((day) => calendar.startOf(day).getTime());
  const times = new Set(midnights.flatMap((midnight) => [midnight - 1, midnight]));
  for (let time = midnights[0]!; time < midnights.at(-1)!; time += 6 * HOUR_MS) times.add(time);
  return [...times].toSorted((a, b) => a - b).map((time) => new Date(time));
}

/** The sum of the merchant's movements and their number, by the date that PostgreSQL computes. */
async function readLedgerByDay(
  { merchant: { merchantId } }: SimulatedMerchant,
  dateOfTransfer: string,
): Promise<Map<string, { net: number; count: number }>> {
  const rows = await processor.dataSource.query<{ day: string; net: number; count: number }[]>(
    `SELECT ${dateOfTransfer}::text AS day, count(*)::int AS count,
            sum(CASE WHEN credit_account = $1 THEN amount ELSE -amount END)::bigint AS net
       FROM transfers WHERE $1 IN (credit_account, debit_account) GROUP BY 1`,
    [`test:merchant:${merchantId}:payable`],
  );
  return new Map(rows.map(({ day, net, count }) => [day, { net, count }]));
}

/** Compares statements and CSV files of single days and of the whole range with the ledger. */
async function expectAgreement(
  merchant: SimulatedMerchant,
  days: readonly string[],
  ledger: ReadonlyMap<string, { net: number; count: number }>,
): Promise<void> {
  const references: string[] = [];
  for (const day of days) {
    const { net = 0, count = 0 } = ledger.get(day) ?? {};
    const statement = await merchant.readStatement(day);
    const movements = await merchant.readMovements(day);
    expect([day, statement.totals.reduce((sum, totals) => sum + totals.net, 0), movements.length]).toEqual([
      ...[day, net, count],
    ]);
    expect(movements.reduce((sum, { amountCents }) => sum + Number(amountCents), 0)).toBe(net);
    expect(movements.map((movement) => movement['day'])).toEqual(movements.map(() => day));
    expect(movements.map(({ amountDecimal }) => Math.round(Number(amountDecimal) * 100))).toEqual(
      movements.map(({ amountCents }) => Number(amountCents)),
    );
    references.push(...movements.map(({ svcId, type, refundReference }) => `${svcId} ${type} ${refundReference}`));
  }
  expect(new Set(references).size).toBe(references.length);
  const range = `?from=${days[0]}&to=${days.at(-1)}`;
  const balance = await merchant.readBalance();
  expect((await merchant.readStatement(range)).totals.map(({ net }) => net)).toEqual([balance]);
  expect(await merchant.readSumOfMovements(range)).toBe(balance);
  expect(await merchant.readMovements(range)).toHaveLength(references.length);
  expect([...ledger.values()].reduce((sum, { net }) => sum + net, 0)).toBe(balance);
}

test.each([
  ['Africa/Johannesburg', '2026-03-10', 24],
  ['America/New_York', '2026-03-10', 24],
  ['Asia/Kathmandu', '2026-03-10', 24],
  // The clocks change on these days. In Havana, Cairo and Beirut there is no midnight in spring.
  ['America/New_York', '2026-03-08', 23],
  ['America/New_York', '2026-11-01', 25],
  ['America/Havana', '2026-03-08', 23],
  ['Africa/Cairo', '2026-04-24', 23],
  ['Asia/Beirut', '2026-10-24', 25],
])('in %s the days around %s, which has %d hours, agree with the ledger', async (zone, day, hours) => {
  const calendar = new LocalCalendar([{ zone }]);
  expect((calendar.startOf(addDays(day)).getTime() - calendar.startOf(day).getTime()) / HOUR_MS).toBe(hours);
  const tradingDays = [addDays(day, -1), day, addDays(day)];
  advanceTo(new Date(calendar.startOf(tradingDays[0]!).getTime() - HOUR_MS));
  const merchant = await SimulatedMerchant.start(processor, [{ zone }]);
  await trade(merchant, timesOfTrade(calendar, tradingDays));
  // The trade begins a millisecond before the first day, and ends at the beginning of the day after the last one.
  const days = [addDays(day, -2), ...tradingDays, addDays(day, 2)];
  const ledger = await readLedgerByDay(merchant, `(created_at AT TIME ZONE '${zone}')::date`);
  expect([...ledger.keys()].toSorted()).toEqual(days);
  await expectAgreement(merchant, days, ledger);
  for (const { localDate, localTime, timeZone, createdUTCDate } of await merchant.readMovements(day)) {
    const [row] = await processor.dataSource.query<[{ local: string }]>(
      `SELECT to_char($1::timestamptz AT TIME ZONE $2, 'YYYY-MM-DD HH24:MI:SS') AS local`,
      [createdUTCDate, zone],
    );
    expect([`${localDate} ${localTime}`, timeZone]).toEqual([row.local, zone]);
  }
});

test.each([
  ['Africa/Johannesburg', 'Asia/Kathmandu', 20.25],
  // The first day is also the one on which the clocks in New York change, so it is an hour shorter.
  ['Asia/Kathmandu', 'America/New_York', 33.75],
  ['Africa/Johannesburg', 'America/New_York', 30],
])(
  'when the zone changes from %s to %s, the days agree with the ledger, and the first one has %d hours',
  async (before, after, hours) => {
    const firstDay = '2026-03-08';
    const oldZone: TimeZonePeriod[] = [{ zone: before }];
    const oldCalendar = new LocalCalendar(oldZone);
    const tradingDays = [addDays(firstDay, -1), firstDay, addDays(firstDay)];
    const changedAt = new Date(oldCalendar.startOf(firstDay).getTime() - 5 * HOUR_MS);
    const timeZones = changeTimeZone(oldZone, after, changedAt);
    const calendar = new LocalCalendar(timeZones);
    advanceTo(new Date(calendar.startOf(tradingDays[0]!).getTime() - HOUR_MS));
    const merchant = await SimulatedMerchant.start(processor, oldZone);
    const times = timesOfTrade(calendar, tradingDays);
    await trade(
      merchant,
      times.filter((time) => time < changedAt),
    );
    const statementBefore = await merchant.readStatement(addDays(firstDay, -1));
    await createMerchant(processor, { merchantId: merchant.merchant.merchantId, timeZones });
    // The present day is the same as before the change.
    expect(await merchant.readStatement(addDays(firstDay, -1))).toEqual(statementBefore);
    await trade(
      merchant,
      times.filter((time) => time >= changedAt),
    );

    const days = [addDays(firstDay, -2), ...tradingDays, addDays(firstDay, 2)];
    const ledger = await readLedgerByDay(
      merchant,
      `CASE WHEN created_at < '${timeZones[1]!.from}' THEN (created_at AT TIME ZONE '${before}')::date
          ELSE greatest((created_at AT TIME ZONE '${after}')::date, '${firstDay}') END`,
    );
    expect([...ledger.keys()].toSorted()).toEqual(days);
    await expectAgreement(merchant, days, ledger);
    const { fromUTCDate, untilUTCDate, timeZone } = await merchant.readStatement(firstDay);
    expect([fromUTCDate, timeZone]).toEqual([timeZones[1]!.from, after]);
    expect((Date.parse(untilUTCDate) - Date.parse(fromUTCDate)) / HOUR_MS).toBe(hours);
  },
);

describe.each([
  ['Africa/Johannesburg', '2026-03-09T22:00:00.000Z'],
  ['America/New_York', '2026-03-10T04:00:00.000Z'],
  ['Asia/Kathmandu', '2026-03-09T18:15:00.000Z'],
])('in %s the statement of 9 March', (zone, midnight) => {
  const DAY = '2026-03-09';
  const END = new Date(midnight);
  const after = (milliseconds: number) => new Date(END.getTime() + milliseconds);
  let merchant: SimulatedMerchant;
  let writeTransfers: TransferWriter;
  beforeEach(async () => {
    writeTransfers = await createTransferWriter(processor);
    advanceTo(after(-HOUR_MS));
    merchant = await SimulatedMerchant.start(processor, [{ zone }]);
    await merchant.payOnPage(12_345);
  });

  test('is provisional until the ledger is sealed up to the local midnight; then it is final, and never changes', async () => {
    await processor.sealLedger();
    advanceTo(after(299_999));
    await merchant.payOnPage(777);
    await processor.sealLedger();
    const provisional = await merchant.readStatement(DAY);
    expect([provisional.status, 'seal' in provisional]).toEqual(['provisional', false]);
    expect(provisional).toMatchObject({ untilUTCDate: midnight, totals: [{ payments: { count: 1, amount: 12_345 } }] });
    advanceTo(after(300_000));
    await processor.sealLedger();
    const { number, hash } = (await readSeals(processor)).at(-1)!;
    const final = { ...provisional, status: 'final', seal: { number, hash } };
    expect(await merchant.readStatement(DAY)).toEqual(final);
    // The next day, with more seals and closings, changes nothing.
    await merchant.payOnPage(888);
    await processor.sealLedger();
    advanceTo(after(48 * HOUR_MS));
    await processor.sealLedger();
    expect(await merchant.readStatement(DAY)).toEqual(final);
    expect(await merchant.readStatement('2026-03-10')).toMatchObject({
      status: 'final',
      totals: [{ payments: { count: 2, amount: 777 + 888 } }],
    });
    expect(await merchant.readStatement(`?from=${DAY}&to=2026-03-10`)).toMatchObject({
      status: 'final',
      totals: [{ payments: { count: 3, amount: 12_345 + 777 + 888 } }],
    });
    expect(await merchant.readStatement(`?from=${DAY}&to=2026-03-11`)).toMatchObject({ status: 'provisional' });
  });

  test('stays provisional while a transfer from before the local midnight is not sealed', async () => {
    await processor.sealLedger();
    await using olderTransaction = await openOlderTransaction();
    await writeTransfers(1, { createdAt: after(-1) });
    advanceTo(after(HOUR_MS));
    await processor.sealLedger();
    expect((await merchant.readStatement(DAY)).status).toBe('provisional');
    await olderTransaction.end();
    await processor.sealLedger();
    expect((await merchant.readStatement(DAY)).status).toBe('final');
  });

  test('becomes final while a transfer from the local midnight is not sealed', async () => {
    await processor.sealLedger();
    await using olderTransaction = await openOlderTransaction();
    await writeTransfers(1, { createdAt: END });
    advanceTo(after(HOUR_MS));
    await processor.sealLedger();
    const { status } = await merchant.readStatement(DAY);
    await olderTransaction.end();
    expect(status).toBe('final');
  });
});
