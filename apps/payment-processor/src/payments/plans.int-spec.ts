/**
 * Checks the query plans of the two statements of every payment. A connection plans a statement only once, possibly
 * before the tables were analysed. Therefore the tables of this test are never analysed.
 */
import { randomUUID } from 'node:crypto';
import { planOf } from '@svc/testing';
import { acceptPayment, createOpenAttempt } from '../../test/attempts/open-attempt.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { attemptEndFor, CHARGEABLE_STATES } from './attempt.js';
import { PaymentRepository } from './payment.repository.js';

let processor: Processor;
beforeAll(async () => {
  processor = await startProcessor();
});
afterAll(() => processor.stop());

const planAccept = (): Promise<string> => planOf(processor.dataSource, () => acceptPayment(processor));

const planSettle = async (): Promise<string> => {
  const open = { ...(await createOpenAttempt(processor)), attemptId: randomUUID() };
  const end = attemptEndFor({ kind: 'declined', acquirerReference: 'a-1', reason: 'card.declined' });
  return planOf(processor.dataSource, () =>
    processor.service.app.get(PaymentRepository).settle(open, end, CHARGEABLE_STATES),
  );
};

/**
 * Lists how a plan reads each table: the index, and the columns in the index condition. A bitmap scan is listed by its
 * index.
 */
function listTableReads(plan: string): string[] {
  const lines = plan.split('\n').map((line) => line.trim().replace(/^->\s+/, ''));
  return lines.flatMap((line, index) => {
    const [, scan, table] = /^(.*Scan.*) on ([a-z_]+)(?: \w+)?  \(cost/.exec(line) ?? [];
    if (scan === undefined || /^(CTE|Function|Subquery|Bitmap Heap) Scan/.test(line)) return [];
    const columns = /^Index Cond: (.*)$/.exec(lines[index + 1] ?? '')?.[1]?.matchAll(/\((\w+) = [\w."]+\)/g) ?? [];
    const condition = Array.from(columns, ([, column]) => column).join(', ') || 'everything';
    return [`${scan} on ${table}: ${condition}`];
  });
}

/**
 * Inserts rows with foreign keys and triggers disabled, because their checks would take most of the time. Autovacuum is
 * off, so there are no statistics.
 */
async function fillTables(): Promise<void> {
  const inserts = {
    payables: `SELECT id, 'test', nth, nth, 100, 'ZAR', now(), 5, '{}', 'reserved', id, 1, 2, now(), now() FROM numbered`,
    payments: `SELECT id, id, id, id::text, 100, 0, 0, 0, 0, 'Card', '**** 0000', '', '', NULL, now(), 'processing', 0, 0, 0, '[]', now(), 1 FROM numbered`,
    attempts: `SELECT id, id, 'simulated', 'account-1', NULL, 'started', NULL, NULL, now(), NULL, 0, NULL, now() FROM numbered`,
    known_merchants: `SELECT nth, 'x', '{}', '{}', 100, NULL, '{}', 1 FROM numbered`,
    known_sites: `SELECT nth, nth, 'x', 1 FROM numbered`,
  };
  const runner = await processor.superuser.connect();
  try {
    await runner.query(`SET session_replication_role = replica`);
    await runner.query(`SET statement_timeout = '5min'`);
    for (const [table, select] of Object.entries(inserts)) {
      await runner.query(
        `INSERT INTO ${table}
         WITH numbered AS (
           SELECT nth, ('00000000-0000-4000-8000-' || lpad(nth::text, 12, '0'))::uuid AS id FROM generate_series(1, 100000) nth
         ) ${select} ON CONFLICT DO NOTHING`,
      );
    }
    await runner.query(`RESET session_replication_role`);
    await runner.query(`RESET statement_timeout`);
  } finally {
    runner.release();
  }
}

describe.each([
  ['empty tables', () => Promise.resolve()],
  ['100 000 payments', fillTables],
])('with %s', (_, fillTable) => {
  beforeAll(fillTable);

  test('the statement that accepts payments finds each payable, merchant and site by its key, in the order of the payables', async () => {
    const plan = await planAccept();
    expect(listTableReads(plan)).toEqual([
      'Index Scan using known_merchants_pkey on known_merchants: merchant_id',
      'Index Scan using known_sites_pkey on known_sites: site_id',
      'Index Scan using payables_pkey on payables: payable_id',
      'Index Scan using attacked_sites_pkey on attacked_sites: mode, site_id',
      // Of the card, and of the card with the other key.
      'Index Scan using velocity_counters_pkey on velocity_counters: counter_key',
      'Index Scan using velocity_counters_pkey on velocity_counters: counter_key',
      'Index Only Scan using payables_pkey on payables: payable_id',
      // Without statistics, both scans have the same cost.
      expect.stringMatching(
        /^(Index Only Scan using payments_idempotency on payments|Bitmap Index Scan on payments_idempotency): payable_id, reference$/,
      ),
    ]);
    expect(plan).toMatch(/Insert on payables p .*\n(.*\n){1,5}?\s+->  Sort .*\n\s+Sort Key: item\S*\."payableId"\n/);
    // The counters are sorted by their keys once. PostgreSQL 18 knows that the rows of `checked` are in this order.
    expect(plan).toMatch(/CTE checked\n(.*\n){1,6}?\s+->  Sort .*\n\s+Sort Key: given\S*\.key COLLATE "C", /);
    expect(plan).toMatch(
      /Insert on velocity_counters .*\n(.*\n){1,5}?\s+->  GroupAggregate .*\n\s+Group Key: \S+\.key\n\s+->  (?:CTE Scan on checked|(?:Incremental )?Sort .*\n\s+Sort Key: \S+\.key COLLATE "C")/,
    );
  });

  test('the statement that settles payments finds each attempt, payment and payable by its key, and locks them in the order of the payables', async () => {
    const plan = await planSettle();
    const readsByKey = [
      'Index Scan using attempts_pkey on attempts: attempt_id',
      'Index Scan using payments_pkey on payments: payment_id',
      'Index Scan using payables_pkey on payables: payable_id',
    ];
    const readCounters = 'Index Scan using velocity_counters_pkey on velocity_counters: counter_key';
    expect(listTableReads(plan)).toEqual([readCounters, ...readsByKey, ...readsByKey, readCounters]);
    expect(plan).toMatch(/Nested Loop .*\n\s+->  Sort .*\n\s+Sort Key: item\S*\.lock_order\n(.*\n){5}\s+->  LockRows /);
    expect(plan).toMatch(
      /CTE held\n.*Nested Loop Left Join .*\n\s+->  Sort .*\n\s+Sort Key: k\S*\.key COLLATE "C"\n(.*\n){1,15}?\s+->  LockRows /,
    );
    expect(plan).toMatch(
      /CTE change\n.*GroupAggregate .*\n\s+Group Key: h\.key\n(.*\n){1,5}?\s+Sort Key: h\.key COLLATE "C", /,
    );
    expect(plan).toMatch(
      /Insert on velocity_counters .*\n(.*\n){1,4}?\s+->  (?:CTE Scan on change|Sort .*\n\s+Sort Key: change\S*\.key COLLATE "C")/,
    );
  });
});
