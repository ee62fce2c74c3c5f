import { TestStore } from '../../test/test-store.js';
import { TestTransformer } from '../../test/test-transformer.js';
import { CleanupJob } from './cleanup-job.js';
import { OldDataRepository } from './old-data.repository.js';
import { Store } from './store.js';

let pos: TestTransformer;
beforeEach(async () => (pos = await TestTransformer.start()));
afterEach(() => pos.stop());

const DAY = 86_400_000;
const count = (table: string): number =>
  pos.transformer.app.get(Store).find<{ n: number }>(`SELECT count(*) AS n FROM ${table}`)!.n;
const cleanUp = (): void => pos.transformer.app.get(CleanupJob).runOnce();

it('deletes rows after the retention time, and keeps newer ones', async () => {
  await pos.line();
  await pos.total(8_950, '17');
  await pos.refund(await pos.pay(), 100);
  await pos.reset();
  await pos.basket('18', 100);
  await pos.closed('18', 'Saved');
  pos.clock.advance(120 * DAY);
  cleanUp();
  expect((await pos.getPayment('17')).status).toBe(200);
  pos.clock.advance(1);
  cleanUp();
  expect((await pos.getPayment('17')).status).toBe(404);
  // The saved basket stays, with its total and its calls.
  expect(['baskets', 'totals', 'outgoing_calls', 'lines', 'payments', 'refunds'].map(count)).toEqual([
    1, 1, 2, 0, 0, 0,
  ]);
  expect((await pos.basket('18', 100)).body.Result).toBe('OK');
});

it('keeps a basket whose invoice has not been closed at the platform', async () => {
  await pos.basket('17', 100);
  pos.platform.outage = 'unreachable';
  await pos.closed('17', 'Void');
  pos.clock.advance(200 * DAY);
  cleanUp();
  expect(count('baskets')).toBe(1);
  pos.platform.outage = undefined;
  await pos.send();
  expect(pos.platform.openInvoices()).toEqual([]);
  cleanUp();
  expect(count('baskets')).toBe(0);
});

describe('of a database that is years old', () => {
  let db: TestStore;
  beforeEach(() => (db = new TestStore()));
  afterEach(() => db.close());

  const kept = (table: string): unknown => db.store.find(`SELECT count(*) AS n FROM ${table}`);
  const run = (): void => new CleanupJob(db.store, new OldDataRepository(), db.clock).runOnce();
  const at = (milliseconds: number): string => db.clock.later(milliseconds - 120 * DAY).toISOString();

  it.each(['open', 'saved'])('a basket that is %s stays', (state) => {
    db.basket({ state, changed_at: at(-1) });
    run();
    expect(kept('baskets')).toEqual({ n: 1 });
  });

  it.each(['reset', 'complete', 'void'])('a basket that is %s is deleted after the retention time', (state) => {
    db.basket({ state, changed_at: at(-1) });
    db.basket({ state, changed_at: at(0) });
    run();
    expect(kept('baskets')).toEqual({ n: 1 });
  });

  it.each(['pending', 'succeeded', 'failed', 'refused'])('a refund that is %s is deleted with its calls', (state) => {
    for (const created_at of [at(-1), at(0)])
      db.call({ kind: 'refund', state: 'done', refund_id: db.refund({ state, created_at }) });
    run();
    expect([kept('refunds'), kept('outgoing_calls')]).toEqual([{ n: 1 }, { n: 1 }]);
  });

  it('a refund that is queued stays with its call', () => {
    db.call({ kind: 'refund', refund_id: db.refund({ state: 'queued', created_at: at(-1) }) });
    run();
    expect([kept('refunds'), kept('outgoing_calls')]).toEqual([{ n: 1 }, { n: 1 }]);
  });

  it('payments without a basket, and alerts, are deleted', () => {
    for (const [index, seen_at] of [at(-1), at(0)].entries()) {
      db.insert('payments', { svc_id: `${index}`, site_id: 1, invoice_reference: 'i', payment: '{}', seen_at });
      db.insert('alerts', { site_id: 1, till: '', at: seen_at, message: '' });
    }
    run();
    expect([kept('payments'), kept('alerts')]).toEqual([{ n: 1 }, { n: 1 }]);
  });
});
