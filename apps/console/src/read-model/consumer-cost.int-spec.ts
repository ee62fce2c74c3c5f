import {
  createMerchant,
  newPayment,
  startConsole,
  store,
  type TestConsole,
  type TestMerchant,
} from '../../test/console.js';

let app: TestConsole;
let merchant: TestMerchant;
beforeAll(async () => {
  app = await startConsole();
  merchant = await createMerchant(app);
});
afterAll(() => app.stop());

const BATCH = 50;
const BATCHES = 20;
/** Eleven entries of indexes and a row. */
const MAX_WAL_BYTES = 2_000;

async function readWalPosition(): Promise<number> {
  const { rows } = await app.superuser.query<{ position: string }>(
    `SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') AS position`,
  );
  return Number(rows[0]!.position);
}

test('a batch of payments is one statement, whose write-ahead log is bounded', async () => {
  const statements = jest.spyOn(app.dataSource, 'query');
  const batches = Array.from({ length: BATCHES }, () =>
    Array.from({ length: BATCH }, (_, index) => newPayment(merchant, new Date(Date.UTC(2026, 2, 1) + index * 1_000))),
  );
  await app.superuser.query('CHECKPOINT');
  // After a checkpoint the first change of each page writes the page, so the first batches are not measured.
  for (const batch of batches.slice(0, BATCHES / 2)) await store(app, ...batch);
  statements.mockClear();
  const before = await readWalPosition();
  for (const batch of batches.slice(BATCHES / 2)) await store(app, ...batch);
  const bytes = (await readWalPosition()) - before;
  const writes = statements.mock.calls.filter(([text]) => text.includes('INSERT INTO payments'));
  expect(writes).toHaveLength(BATCHES / 2);
  const walBytes = Math.round(bytes / (BATCH * (BATCHES / 2)));
  expect(walBytes).toBeLessThan(MAX_WAL_BYTES);
});
