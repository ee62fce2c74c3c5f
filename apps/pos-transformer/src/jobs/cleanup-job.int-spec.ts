import { TestStore } from '../../test/test-store.js';
import { TestTransformer } from '../../test/test-transformer.js';
import { OldDataRepository } from '../store/old-data.repository.js';
import { Store } from '../store/store.js';
import { CleanupJob } from './cleanup-job.js';

let pos: TestTransformer;
beforeEach(async () => (pos = await TestTransformer.start()));
afterEach(() => pos.stop());

const DAY = 86_400_000;
const countRows = (table: string): number =>
  pos.transformer.app.get(Store).find<{ n: number }>(`SELECT count(*) AS n FROM ${table}`)!.n;
const cleanUp = (): void => pos.transformer.app.get(CleanupJob).runStep();

it('the job deletes rows after the retention period, but not the rows of saved baskets', async () => {
  await pos.sendLine();
  await pos.sendTotal(8_950, '17');
  await pos.requestRefund(await pos.pay(), 100);
  await pos.resetBasket();
  await pos.sendBasket('18', 100);
  await pos.closeBasket('18', 'Saved');
  pos.clock.advance(120 * DAY);
  cleanUp();
  expect((await pos.getPayment('17')).status).toBe(200);
  pos.clock.advance(1);
  cleanUp();
  expect((await pos.getPayment('17')).status).toBe(404);
  // The saved basket stays, with its total and its calls.
  expect(['baskets', 'totals', 'outgoing_calls', 'lines', 'payments', 'refunds'].map(countRows)).toEqual([
    1, 1, 2, 0, 0, 0,
  ]);
  expect((await pos.sendBasket('18', 100)).body.Result).toBe('OK');
});

it('the job does not delete a basket whose invoice has not been closed at the platform', async () => {
  await pos.sendBasket('17', 100);
  pos.platform.outage = 'unreachable';
  await pos.closeBasket('17', 'Void');
  pos.clock.advance(200 * DAY);
  cleanUp();
  expect(countRows('baskets')).toBe(1);
  pos.platform.outage = undefined;
  await pos.sendDueCalls();
  expect(pos.platform.openInvoices()).toEqual([]);
  cleanUp();
  expect(countRows('baskets')).toBe(0);
});

describe('one millisecond after the retention period, the job', () => {
  // The tests insert rows that are one millisecond older than the retention period, and rows that are not.
  let db: TestStore;
  beforeEach(() => (db = new TestStore()));
  afterEach(() => db.close());

  const countStoredRows = (table: string): unknown => db.store.find(`SELECT count(*) AS n FROM ${table}`);
  const runCleanup = (isPlatformTimeKnown = true): void =>
    new CleanupJob(db.store, new OldDataRepository(), {
      isPlatformTimeKnown,
      later: (milliseconds) => db.clock.later(milliseconds),
    }).runStep();
  const timeFromRetentionLimit = (milliseconds: number): string =>
    db.clock.later(milliseconds - 120 * DAY).toISOString();

  it.each(['open', 'saved'])('does not delete a basket that is %s', (state) => {
    db.insertBasket({ state, changed_at: timeFromRetentionLimit(-1) });
    runCleanup();
    expect(countStoredRows('baskets')).toEqual({ n: 1 });
  });

  it.each(['reset', 'complete', 'void'])('deletes a basket that is %s', (state) => {
    db.insertBasket({ state, changed_at: timeFromRetentionLimit(-1) });
    db.insertBasket({ state, changed_at: timeFromRetentionLimit(0) });
    runCleanup();
    expect(countStoredRows('baskets')).toEqual({ n: 1 });
  });

  it.each(['pending', 'succeeded', 'failed', 'refused'])('deletes a refund that is %s, with its calls', (state) => {
    for (const created_at of [timeFromRetentionLimit(-1), timeFromRetentionLimit(0)])
      db.insertCall({ kind: 'refund', state: 'done', refund_id: db.insertRefund({ state, created_at }) });
    runCleanup();
    expect([countStoredRows('refunds'), countStoredRows('outgoing_calls')]).toEqual([{ n: 1 }, { n: 1 }]);
  });

  it('does not delete a queued refund and its call', () => {
    db.insertCall({
      kind: 'refund',
      refund_id: db.insertRefund({ state: 'queued', created_at: timeFromRetentionLimit(-1) }),
    });
    runCleanup();
    expect([countStoredRows('refunds'), countStoredRows('outgoing_calls')]).toEqual([{ n: 1 }, { n: 1 }]);
  });

  it('deletes nothing before the platform’s time is known, because the clock of the computer may be wrong (T14)', () => {
    db.insertBasket({ state: 'reset', changed_at: timeFromRetentionLimit(-1) });
    runCleanup(false);
    expect(countStoredRows('baskets')).toEqual({ n: 1 });
  });

  it('deletes alerts, and payments without a basket', () => {
    for (const [index, seen_at] of [timeFromRetentionLimit(-1), timeFromRetentionLimit(0)].entries()) {
      db.insert('payments', { svc_id: `${index}`, site_id: 1, invoice_reference: 'i', payment: '{}', seen_at });
      db.insert('alerts', { site_id: 1, till: '', at: seen_at, message: '' });
    }
    runCleanup();
    expect([countStoredRows('payments'), countStoredRows('alerts')]).toEqual([{ n: 1 }, { n: 1 }]);
  });
});
