import { randomUUID } from 'node:crypto';
import { planOf } from '@svc/testing';
import type { DataSource, QueryRunner } from 'typeorm';
import { DispatcherUnderTest } from '../../test/dispatcher.js';
import type { NewNotification } from '../notifications/notification.js';
import { NotificationRepository } from '../recording/notification.repository.js';
import { RecordNotifications } from '../recording/record-notifications.js';
import { DeliveryAttemptRepository } from './delivery-attempt.repository.js';
import { DeliveryAttemptRecorder } from './delivery-attempt-recorder.js';
import { DeliveryLeaseRepository, type LeasedNotification } from './delivery-lease.repository.js';
import { DueSignal } from './due-signal.js';

const ROWS = 100_000;
const ROWS_PER_INSERT = 10_000;

let dispatcher: DispatcherUnderTest;
let dataSource: DataSource;
/** A connection that planned its statements while the tables were empty, and reuses these plans. */
let earlyConnection: QueryRunner;
beforeAll(async () => {
  dispatcher = await DispatcherUnderTest.start();
  dataSource = dispatcher.test.dataSource;
  earlyConnection = dataSource.createQueryRunner();
  await recordAll(earlyConnection);
});
afterAll(async () => {
  await earlyConnection.release();
  await dispatcher.test.stop();
});

/** Inserts rows. PostgreSQL has no statistics about them, as in tables that have grown since the last ANALYZE. */
async function fillTables(): Promise<void> {
  for (let first = 0; first < ROWS; first += ROWS_PER_INSERT) {
    const numbers = `generate_series(${first + 1}, ${first + ROWS_PER_INSERT}) AS number`;
    await dataSource.query(
      `INSERT INTO notifications (id, webhook_id, recipient, type, merchant_id, site_id, mode, session_id, payment_reference, payment_status, api_version,
                                  url, endpoint, fields, state, next_attempt_at, created_at)
       SELECT gen_random_uuid(), gen_random_uuid(), 'session', 'payment', 7, 71, 'test', gen_random_uuid(), lpad(number::text, 18, '0'), 'Success', 'v3.1',
              'https://shop.example/hook', 'shop.example:443', '{}', 'pending', now(), now() FROM ${numbers}`,
    );
    await dataSource.query(
      `INSERT INTO circuits (merchant_id, endpoint, failures, openings) SELECT number, 'shop.example:443', 1, 0 FROM ${numbers}`,
    );
  }
}

interface TableReads {
  readonly table: string;
  readonly scans: number;
  readonly rows: number;
}

/** Table reads of the current transaction of this connection. */
const readTableStatistics = (runner: QueryRunner): Promise<TableReads[]> =>
  runner.query(
    `SELECT relname AS table, seq_scan AS scans, coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) AS rows
       FROM pg_stat_xact_user_tables WHERE relname IN ('notifications', 'circuits') ORDER BY relname`,
  ) as Promise<TableReads[]>;

/** Records 20 notifications and rolls back. Returns how many rows of each table the recording has read. */
async function recordAll(runner: QueryRunner): Promise<TableReads[]> {
  const payments = Array.from({ length: 20 }, (_, nth) =>
    dispatcher.newPayment('https://shop.example/hook', { state: nth % 2 === 0 ? 'success' : 'failed' }),
  );
  const lease = { leaseId: randomUUID(), leasedUntil: dispatcher.clock.later(30_000) };
  let sentCount = 0;
  const worker = {
    reserve: (permitted: readonly NewNotification[]) => ({ lease, permitted, waiting: [] }),
    send: (leased: readonly LeasedNotification[]) => Promise.resolve(void (sentCount += leased.length)),
    free: () => undefined,
  };
  // eslint-disable-next-line no-restricted-syntax -- The plans of exactly this connection are tested.
  await runner.startTransaction();
  try {
    const before = await readTableStatistics(runner);
    const events = payments.map((payload) => ({ payload }));
    const recording = new RecordNotifications(new NotificationRepository(), worker, dispatcher.clock);
    await recording.execute(runner.manager, events);
    expect(sentCount).toBe(payments.length);
    const after = await readTableStatistics(runner);
    return after.map(({ table, scans, rows }, nth) => {
      return { table, scans: scans - before[nth]!.scans, rows: rows - before[nth]!.rows };
    });
  } finally {
    await runner.rollbackTransaction();
  }
}

/** Matches a plan that looks up each row of a batch by the key of `index`. */
const indexLookupForEachRow = (index: string, condition: string): RegExp =>
  new RegExp(
    String.raw`Nested Loop .*\n\s+->  CTE Scan on \w+ .*\n\s+->  Index Scan using ${index} on .*\n\s+Index Cond: \(${condition}\)`,
  );

describe.each(['empty', `filled with ${ROWS} rows`])('in tables that are %s and were never analysed,', (tables) => {
  beforeAll(async () => {
    if (tables !== 'empty') await fillTables();
  });

  test('the statement that records results finds each notification by its id', async () => {
    const now = dispatcher.clock.now();
    const notification = { id: randomUUID(), leaseId: randomUUID(), merchantId: 7, endpoint: 'shop.example:443' };
    const plan = await planOf(dataSource, () =>
      new DeliveryAttemptRecorder(new DeliveryAttemptRepository(dataSource), new DueSignal(dataSource)).record({
        notification: { ...notification, paymentStatus: 'Success' },
        response: { statusCode: 200, durationMs: 1 },
        result: { outcome: 'acknowledged', state: 'delivered', nextAttemptAt: undefined },
        ...{ startedAt: now, endedAt: now },
      }),
    );
    expect(plan).toMatch(indexLookupForEachRow('notifications_pkey', String.raw`id = attempts\w*.id`));
    expect(plan).toMatch(/Index Scan using circuits_pkey on circuits .*\n\s+Index Cond: \(\(merchant_id = attempts/);
    expect(plan).not.toMatch(/Seq Scan/);
  });

  test('a lease request finds the other notifications of a session with an index', async () => {
    const plan = await planOf(dataSource, () =>
      new DeliveryLeaseRepository(dataSource).leaseDue({
        ...{ now: dispatcher.clock.now(), leasedUntil: dispatcher.clock.later(30_000), leaseId: randomUUID() },
        ...{ max: 10, maxPerMerchant: 10, maxPerEndpoint: 10, usage: [] },
      }),
    );
    expect(plan).toMatch(/ notifications_of_session .*\n\s+Index Cond: \(session_id = n/);
    expect(plan).not.toMatch(/Seq Scan|hashed SubPlan/);
  });

  test.each(['a connection that planned its statements while the tables were empty', 'a new connection'])(
    'the recording of notifications by %s uses an index for sessions and circuits',
    async (connection) => {
      const runner = connection === 'a new connection' ? dataSource.createQueryRunner() : earlyConnection;
      for (const { table, scans, rows } of await recordAll(runner)) {
        expect([table, scans]).toEqual([table, 0]);
        expect(rows).toBeLessThanOrEqual(20);
      }
      if (runner !== earlyConnection) await runner.release();
    },
  );
});
