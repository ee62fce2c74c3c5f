/** The platform's time in the store (T14), with a computer whose clock is wrong, jumps, or was set between two runs. */
import { ManualClock } from '@svc/testing';
import { TestStore } from '../../test/test-store.js';
import { TestTransformer } from '../../test/test-transformer.js';
import { TotalRepository } from '../baskets/total.repository.js';
import { RefundRepository } from '../refunds/refund.repository.js';
import { Store } from '../store/store.js';
import { PlatformClock } from './platform-clock.js';
import { PlatformTimeRepository, TIME_COLUMNS } from './platform-time.repository.js';

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];

describe('the clock', () => {
  let db: TestStore;
  let computer: ManualClock;
  const warnings: string[] = [];
  beforeEach(() => {
    db = new TestStore();
    computer = new ManualClock(new Date('2026-03-01T10:00:00.000Z'));
    warnings.length = 0;
  });
  afterEach(() => db.close());

  const startClock = (): PlatformClock => {
    const log = { warn: (_: object, message: string) => warnings.push(message) };
    return new PlatformClock(computer, db.store, new PlatformTimeRepository(db.store), log as never);
  };
  /** The platform answers at once, with this time. */
  const answer = (clock: PlatformClock, time: string): void => clock.correct(Date.parse(time), clock.monotonicMs());

  it('shows the time of the computer until the platform has responded', () => {
    const clock = startClock();
    expect([clock.nowISO(), clock.isPlatformTimeKnown]).toEqual(['2026-03-01T10:00:00.000Z', false]);
    answer(clock, '2026-02-28T08:00:00Z');
    expect(clock.isPlatformTimeKnown).toBe(true);
    // The header has whole seconds, so any time within the second is possible.
    expect(clock.nowISO()).toBe('2026-02-28T08:00:00.999Z');
  });

  it('does not change when the clock of the computer is set', () => {
    const clock = startClock();
    computer.jump(60 * DAY);
    expect(clock.nowISO()).toBe('2026-03-01T10:00:00.000Z');
    computer.advance(1_500);
    expect(clock.nowISO()).toBe('2026-03-01T10:00:01.500Z');
    expect(clock.computerErrorMs).toBe(60 * DAY);
  });

  it.each([
    ['at the beginning of the second', '2026-03-01T10:00:00Z', 0, '2026-03-01T10:00:00.000Z'],
    ['at the end of the second', '2026-03-01T09:59:59Z', 0, '2026-03-01T09:59:59.999Z'],
    ['before the response arrived', '2026-03-01T09:59:58Z', 2_000, '2026-03-01T10:00:00.000Z'],
    ['long before the response', '2026-03-01T09:59:50Z', 2_000, '2026-03-01T09:59:52.999Z'],
    ['later', '2026-03-01T10:00:01Z', 2_000, '2026-03-01T10:00:01.000Z'],
  ])('keeps its time if the platform may have written the header %s', (_, date, elapsedMs, expected) => {
    const clock = startClock();
    clock.correct(Date.parse(date), clock.monotonicMs() - elapsedMs);
    expect(clock.nowISO()).toBe(expected);
  });

  it('begins the next run with the last known difference', () => {
    answer(startClock(), '2026-03-01T08:00:00Z');
    computer.advance(HOUR);
    expect(startClock().nowISO()).toBe('2026-03-01T09:00:00.999Z');
  });

  it('saves the difference when the clock of the computer was set during the run', () => {
    const clock = startClock();
    answer(clock, '2026-03-01T10:00:00Z');
    computer.jump(-3 * HOUR);
    clock.checkComputerClock();
    expect(startClock().nowISO()).toBe('2026-03-01T10:00:00.000Z');
  });

  it('does not save an estimate as a difference', () => {
    const clock = startClock();
    computer.jump(-3 * HOUR);
    clock.checkComputerClock();
    expect(new PlatformTimeRepository(db.store).get()).toEqual({
      offsetMs: 0,
      estimatedSince: '2026-03-01T10:00:00.000Z',
    });
  });

  it('is later than every stored time, even if the computer was set to 1970 between two runs', () => {
    db.insertBasket({ changed_at: '2026-03-01T10:00:00.000Z' });
    db.insertRefund({ created_at: '2026-03-01T10:00:07.000Z' });
    computer.jump(-Date.parse('2026-03-01T09:00:00Z'));
    expect(startClock().nowISO()).toBe('2026-03-01T10:00:07.001Z');
  });

  it('moves the times of estimates by the first correction, also those of an earlier run, and no other times', () => {
    const known = db.insertRefund({ created_at: '2026-03-01T09:00:00.000Z' });
    const first = startClock();
    first.checkComputerClock();
    const ofFirstRun = db.insertRefund({ created_at: first.nowISO() });
    computer.advance(MINUTE);
    const second = startClock();
    const ofSecondRun = db.insertRefund({ created_at: second.nowISO() });
    computer.advance(MINUTE);
    answer(second, '2026-06-01T12:02:00Z');
    answer(second, '2026-06-01T12:30:00Z');
    const times = [known, ofFirstRun, ofSecondRun].map(
      (id) => new RefundRepository(db.store, db.clock).get(id).createdAt,
    );
    expect(times).toEqual(['2026-03-01T09:00:00.000Z', '2026-06-01T12:00:00.000Z', '2026-06-01T12:01:00.000Z']);
    expect(second.nowISO()).toBe('2026-06-01T12:30:00.000Z');
  });

  it('moves no estimate before a known time, if the clock of the computer was set between two runs', () => {
    db.insertRefund({ created_at: '2026-03-01T10:00:00.000Z' });
    const knownRequest = JSON.stringify({ createdUTCDate: '2026-03-01T09:00:00.000Z' });
    const knownTotalId = db.insertTotal(db.insertBasket(), 'queued', {
      request: knownRequest,
      created_at: '2026-03-01T09:00:00.000Z',
    });
    const withoutRequestId = db.insertTotal(db.insertBasket(), 'without-invoice', { request: null });
    const first = startClock();
    first.checkComputerClock();
    const refundId = db.insertRefund({ created_at: first.nowISO() });
    const request = JSON.stringify({ amount: 100, createdUTCDate: first.nowISO() });
    const totalId = db.insertTotal(db.insertBasket({ changed_at: first.nowISO() }), 'queued', {
      request,
      created_at: first.nowISO(),
    });
    computer.jump(2 * HOUR);
    answer(startClock(), '2026-03-01T10:00:30Z');
    expect(new RefundRepository(db.store, db.clock).get(refundId).createdAt).toBe('2026-03-01T10:00:00.000Z');
    const requestOf = (id: number): unknown => new TotalRepository(db.store, db.clock).get(id).request;
    expect([requestOf(totalId), requestOf(knownTotalId), requestOf(withoutRequestId)]).toEqual([
      { amount: 100, createdUTCDate: '2026-03-01T10:00:00.000Z' },
      JSON.parse(knownRequest),
      null,
    ]);
  });

  it('warns once when the clock of the computer becomes wrong, and once when it is right again', () => {
    const clock = startClock();
    answer(clock, '2026-03-01T10:00:00Z');
    for (const jump of [MINUTE, 1, 0, -MINUTE, 0]) {
      computer.jump(jump);
      clock.checkComputerClock();
    }
    expect(warnings).toEqual(['the clock of this computer is wrong', 'the clock of this computer is right again']);
  });
});

it('every time in the schema is corrected, except the times of the platform', () => {
  const db = new TestStore();
  const columns = db.store
    .list<{ name: string }>(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
    .flatMap(({ name }) =>
      db.store
        .list<{ column: string }>(`SELECT name AS column FROM pragma_table_info('${name}')`)
        .map(({ column }) => `${name}.${column}`),
    )
    .filter((column) => /[._]at$/.test(column));
  const corrected = Object.entries(TIME_COLUMNS).flatMap(([table, names]) => names.map((name) => `${table}.${name}`));
  expect(columns.sort()).toEqual([...corrected, 'totals.expires_at'].sort());
  db.close();
});

describe('the transformer', () => {
  let pos: TestTransformer;
  beforeEach(async () => (pos = await TestTransformer.start()));
  afterEach(() => pos.stop());

  /** The platform's clock is right. It advances with the clock of the test, but does not jump with it. */
  const followRealTime = (): void => {
    const difference = pos.clock.now().getTime() - pos.clock.monotonicMs();
    pos.platform.now = () => new Date(difference + pos.clock.monotonicMs());
  };

  it.each([
    ['two hours ahead', 2 * HOUR],
    ['two hours behind', -2 * HOUR],
    ['60 days ahead', 60 * DAY],
    ['in 1970', -Date.parse('2026-03-01T09:00:00Z')],
    ['in 2100', Date.parse('2100-01-01T00:00:00Z') - Date.parse('2026-03-01T10:00:00Z')],
  ])(
    'T14: with a clock that is %s and then right, an equal refund is a repeat for two minutes only',
    async (_, jump) => {
      followRealTime();
      await pos.sendBasket('17', 1_000);
      const svcId = await pos.pay();
      pos.clock.jump(jump);
      await pos.restart();
      await pos.requestRefund(svcId, 100);
      pos.clock.jump(-jump);
      pos.clock.advance(2 * MINUTE - 2_000);
      await pos.requestRefund(svcId, 100);
      expect(pos.platform.refunds).toHaveLength(1);
      pos.clock.jump(jump);
      pos.clock.advance(3 * MINUTE);
      await pos.requestRefund(svcId, 100);
      expect(pos.platform.refunds).toHaveLength(2);
    },
  );

  it('T14: a refund that is the first call of a run is repeated within two minutes, although its time was an estimate', async () => {
    followRealTime();
    await pos.sendBasket('17', 1_000);
    const svcId = await pos.pay();
    pos.platform.outage = 'unreachable';
    pos.clock.jump(-5 * HOUR);
    await pos.restart();
    pos.platform.outage = undefined;
    expect((await pos.requestRefund(svcId, 100)).body.Result).toBe('OK');
    pos.clock.advance(MINUTE);
    expect((await pos.requestRefund(svcId, 100)).body.Message).toContain('requested before');
    expect(pos.platform.refunds).toHaveLength(1);
    pos.clock.advance(MINUTE + 2_000);
    await pos.requestRefund(svcId, 100);
    expect(pos.platform.refunds).toHaveLength(2);
  });

  it('T14: the times in a queued invoice are times of the platform when it is sent', async () => {
    followRealTime();
    pos.platform.outage = 'unreachable';
    pos.clock.jump(60 * DAY);
    await pos.restart();
    await pos.sendTotal(100, '17');
    expect(pos.platform.requests).toEqual([]);
    pos.platform.outage = undefined;
    await pos.sendPostponedCalls(MINUTE);
    const { createdUTCDate } = pos.openInvoice().body as { createdUTCDate: string };
    expect(Math.abs(Date.parse(createdUTCDate) - (pos.platform.now().getTime() - MINUTE))).toBeLessThan(2_000);
  });

  it.each([
    ['a page of a proxy', { 'content-type': 'text/html' }],
    ['a response of a cache', { 'content-type': 'application/json', age: '3600' }],
  ])('T14: the time of %s is not taken for the time of the platform', async (_, headers) => {
    const clock = pos.transformer.app.get(PlatformClock);
    const before = clock.nowISO();
    pos.platform.nextErrors.push({
      method: 'POST',
      status: 502,
      headers: { ...headers, date: new Date(0).toUTCString() },
    });
    await pos.sendTotal(100, '17');
    expect(clock.nowISO()).toBe(before);
  });

  it('T14: an expired invoice is renewed only when the platform’s time is known', async () => {
    await pos.sendTotal(100, '17');
    pos.platform.outage = 'unreachable';
    pos.clock.advance(2 * HOUR);
    await pos.restart();
    await pos.renewInvoices();
    const states = (): unknown => pos.transformer.app.get(Store).list('SELECT state FROM totals ORDER BY total_id');
    expect(states()).toEqual([{ state: 'open' }]);
  });
});
