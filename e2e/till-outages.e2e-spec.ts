/**
 * A trading day of a store, with an outage of its line to the platform and kills of its transformer: at the end the
 * records of tills, transformer, ledger and acquirer are equal for every basket, to the cent. Each test run has a small
 * day. `SVC_TILL_BASKETS=2000 ./svc test e2e/till-outages` measures a whole day on its own platform
 * (docs/performance.md).
 */
import { PATIENCE } from '@svc/testing';
import { Platform } from './platform/platform.js';
import { sharedPlatform } from './platform/shared-platform.js';
import { type DaySize, TradingDay } from './stores/till-day.js';
import { readDayRecords } from './stores/till-records.js';

const SMALL_BASKETS = 80;
const baskets = Number(process.env['SVC_TILL_BASKETS'] ?? SMALL_BASKETS);
const isWholeDay = baskets > SMALL_BASKETS;
const SIZE: DaySize = { tills: 8, baskets, outageBaskets: Math.ceil(baskets / 8), kills: 3, isMeasured: isWholeDay };
const MAX_MEMORY_MB = 150;
const MAX_ANSWER_MS = 5;
const TIMEOUT_MS = (isWholeDay ? 1_800_000 : 300_000) * PATIENCE;

let day: TradingDay;
let platform: Platform;
beforeAll(async () => {
  platform = isWholeDay ? await Platform.start('till-day') : await sharedPlatform('embedded');
  day = await TradingDay.open(platform, platform.site(1, 1), SIZE);
});
afterAll(async () => {
  await day?.close();
  if (isWholeDay) await platform?.stop();
});

it(
  'the till transformer loses and duplicates no basket during a network outage and three kills',
  async () => {
    await day.run();
    const polled = await day.stopPolling();
    const records = await readDayRecords(day);
    const { sums, payments, refunds } = records;
    const loggedTimes = ['/GetPayment', '/v1/invoice/:invoiceId/payment'].flatMap((route) =>
      day.computer.answerTimes(route),
    );
    expect(await day.computer.stop()).toBe(0);
    const { memoryMb } = day.computer;
    console.log(
      [
        `${SIZE.baskets} baskets of ${SIZE.tills} tills in ${day.seconds.toFixed(0)} s: ${(SIZE.baskets / day.seconds).toFixed(1)} baskets, ${(day.calls / day.seconds).toFixed(0)} calls a second`,
        `${payments} payments of ${sums.tills.paid} cents, ${refunds} refunds of ${sums.tills.refunded} cents; ${SIZE.outageBaskets} baskets during the outage, all sent ${(day.drainedMs / 1_000).toFixed(1)} s after it; ${day.computer.kills} kill -9`,
        `ms, p50 / p99 / max: a code ${percentiles(day.times.code)}; any call of a till ${percentiles(day.times.call)}; from payment to till ${percentiles(day.times.paymentAtTill)}`,
        `GetPayment ${percentiles(polled.GetPayment)}; invoice payment ${percentiles(polled['invoice payment'])}; health ${percentiles(polled.health)}; by the log of the transformer ${percentiles(loggedTimes)}`,
        `most resident memory of the transformer, up to each kill and to the end: ${memoryMb.join(', ')} MB`,
      ].join('\n'),
    );
    expect(records.problems).toEqual([]);
    expect([sums.transformer.paid, sums.ledger, sums.acquirer]).toEqual([sums.tills.paid, sums.tills, sums.tills]);
    expect([day.computer.kills, day.line.isDown, day.sales.length]).toEqual([3, false, SIZE.baskets]);
    // There was a basket of every kind. Some baskets were paid, refunded, and served during the outage.
    expect(new Set(day.sales.map(({ kind }) => kind)).size).toBe(10);
    for (const count of [payments, refunds, day.paidLater, day.drainedMs]) expect(count).toBeGreaterThan(0);
    expect(Math.max(...memoryMb)).toBeLessThan(MAX_MEMORY_MB);
    // Reconciles only on its own platform, because a shared platform also has the payments of other tests.
    const reconciled = isWholeDay ? await platform.svc('admin', 'reconcile') : undefined;
    expect([reconciled?.code ?? 0, reconciled?.code ? reconciled.output : '']).toEqual([0, '']);
    expect(percentile(loggedTimes, isWholeDay ? 0.99 : 0.5)).toBeLessThan(MAX_ANSWER_MS * PATIENCE);
  },
  TIMEOUT_MS,
);

function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN;
}

function percentiles(values: readonly number[]): string {
  return [0.5, 0.99, 1].map((share) => percentile(values, share).toFixed(1)).join(' / ');
}
