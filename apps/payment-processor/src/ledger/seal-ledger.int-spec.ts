import { createHash } from 'node:crypto';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { GaugeReader, holdLocks, openOlderTransaction, openTransaction, waitUntil } from '@svc/testing';
import { createTransferWriter, forge, readSeals, type TransferWriter } from '../../test/books/ledger.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { SealRepository } from './seal.repository.js';
import { SealLedger } from './seal-ledger.js';
import { VerifyLedger } from './verify-ledger.js';

let gauges: GaugeReader;
let processor: Processor;
let writeTransfers: TransferWriter;
beforeEach(async () => {
  gauges = GaugeReader.begin();
  processor = await startProcessor();
  writeTransfers = await createTransferWriter(processor);
  await processor.sealLedger();
});
afterEach(async () => {
  jest.restoreAllMocks();
  await processor.stop();
  gauges.end();
});

/** Ids of the sealed transfers, without the first seal, which `beforeEach` creates. */
const sealedIds = async (): Promise<string[]> =>
  (await readSeals(processor)).slice(1).flatMap(({ transferIds }) => transferIds);
const advanceTo = (time: string): void =>
  processor.clock.advance(new Date(time).getTime() - processor.clock.now().getTime());
const listDays = () => processor.service.app.get(SealRepository).listDays(10);

describe('seals', () => {
  test('contain the committed transfers, in order, up to the limit; without new transfers no seal is created', async () => {
    const ids = [...(await writeTransfers(4)), ...(await writeTransfers(3))];
    expect([
      await processor.sealLedger(3),
      await processor.sealLedger(3),
      await processor.sealLedger(3),
      await processor.sealLedger(3),
    ]).toEqual([3, 3, 1, 0]);
    expect((await readSeals(processor)).map(({ number, transferIds }) => [number, transferIds.length])).toEqual([
      [1, 1],
      [2, 3],
      [3, 3],
      [4, 1],
    ]);
    expect(await sealedIds()).toEqual(ids);
  });

  test('contain only transfers with the id of the transaction that wrote them, because a future id could prevent the closing of days', async () => {
    const [id] = await writeTransfers(1);
    const copyWithTxid = (txid: string): Promise<unknown> =>
      processor.superuser.query(
        `INSERT INTO transfers (transfer_id, kind, debit_account, credit_account, amount, currency, mode, merchant_id, payment_id, created_at, txid)
         SELECT gen_random_uuid(), kind, debit_account, credit_account, amount, currency, mode, merchant_id, payment_id, created_at, ${txid}
           FROM transfers WHERE transfer_id = '${id}'`,
      );
    await expect(copyWithTxid(`'18446744073709551615'::xid8`)).rejects.toMatchObject({ constraint: 'transfers_txid' });
    await copyWithTxid('pg_current_xact_id()');
    expect(await processor.sealLedger()).toBe(2);
  });

  test('are not created, and no day is closed, if the last seal has a transaction id that this server has not reached; a log entry and the gauge report this', async () => {
    await writeTransfers(1);
    await forge(
      processor,
      `INSERT INTO ledger_seals SELECT seal_number + 1, hash, hash, '18446744073709551615', last_position, transfer_count, transfer_ids, transfer_hashes, sealed_at
         FROM ledger_seals ORDER BY seal_number DESC LIMIT 1`,
    );
    const log = { info: jest.fn(), error: jest.fn() } as unknown as ServiceLog;
    const sealer = new SealLedger(processor.service.app.get(SealRepository), processor.clock, log);
    advanceTo('2026-03-02T00:05:00Z');
    expect([await sealer.runStep(), await sealer.runStep()]).toEqual([0, 0]);
    expect(log.error).toHaveBeenCalledTimes(1);
    expect((await listDays()).map(({ day }) => day)).toEqual(['2026-02-28']);
    // The gauge has this fixed value while nothing can be sealed.
    expect(await gauges.read('svc.ledger.unsealed.age')).toMatchObject([{ value: 86_400 }]);
  });

  test('are not created if the last seal has exactly the next transaction id of this server', async () => {
    const nextTxid = `(pg_current_xact_id()::text::bigint + 1)::text::xid8`;
    const isRefused = await waitUntil('a check before another transaction gets the next id', 10_000, async () => {
      await forge(
        processor,
        `UPDATE ledger_seals SET last_txid = ${nextTxid} WHERE seal_number = (SELECT max(seal_number) FROM ledger_seals)`,
      );
      const result = await processor.service.app.get(SealRepository).isSealedByAnotherServer();
      const { rows } = await processor.superuser.query<{ isNext: boolean }>(
        `SELECT last_txid = pg_snapshot_xmax(pg_current_snapshot()) AS "isNext" FROM ledger_seals ORDER BY seal_number DESC LIMIT 1`,
      );
      return rows[0]!.isNext && { result };
    });
    expect(isRefused).toEqual({ result: true });
  });

  test('can be recomputed from the rows with SHA-256 over the previous hash and the hashes of the rows as text', async () => {
    await writeTransfers(2);
    await processor.sealLedger();
    const rows = await processor.dataSource.query<Record<string, unknown>[]>(
      `SELECT t.*, t.txid::text AS txid, (extract(epoch FROM t.created_at) * 1000000)::bigint AS created_at FROM transfers t ORDER BY t.txid, t.position`,
    );
    const sha256 = (...inputs: (string | Buffer)[]): Buffer => {
      const hash = createHash('sha256');
      for (const input of inputs) hash.update(input);
      return hash.digest();
    };
    /** The row as PostgreSQL writes jsonb: shorter column names come first. */
    const canonicalText = (row: Record<string, unknown>): string => {
      const columns = Object.entries(row).filter(([, value]) => value !== null);
      const sorted = columns.toSorted(([a], [b]) => a.length - b.length || (a < b ? -1 : 1));
      return `{${sorted.map(([name, value]) => `"${name}": ${JSON.stringify(value)}`).join(', ')}}`;
    };
    const hashes = rows.map((row) => sha256(canonicalText(row)));
    const first = sha256(Buffer.alloc(32), hashes[0]!);
    const second = sha256(first, ...hashes.slice(1));
    expect((await readSeals(processor)).map(({ previousHash, hash }) => [previousHash, hash])).toEqual([
      ['00'.repeat(32), first.toString('hex')],
      [first.toString('hex'), second.toString('hex')],
    ]);
  });

  test('do not skip a transfer of an older transaction that commits later', async () => {
    await using olderTransaction = await openTransaction(processor.dataSource);
    const [lateTransferId] = await writeTransfers(1, { connection: olderTransaction });
    const committedIds = await writeTransfers(2);
    expect(await processor.sealLedger()).toBe(0);
    await olderTransaction.commit();
    expect(await processor.sealLedger()).toBe(3);
    expect(await sealedIds()).toEqual([lateTransferId, ...committedIds]);
  });

  test('omit transfers that were rolled back', async () => {
    {
      // Is rolled back at the end of this block.
      await using otherTransaction = await openTransaction(processor.dataSource);
      await writeTransfers(1, { connection: otherTransaction });
    }
    const committedIds = await writeTransfers(1);
    await processor.sealLedger();
    expect(await sealedIds()).toEqual(committedIds);
  });

  test('form one chain that contains each transfer once, even if many jobs create them while transfers are committed', async () => {
    const writers = Array.from({ length: 20 }, () => writeTransfers(5));
    const sealers = Array.from({ length: 40 }, () => processor.service.app.get(SealLedger).runStep(7));
    await Promise.all([...writers, ...sealers]);
    while ((await processor.sealLedger(7)) > 0);
    const ids = await sealedIds();
    expect([ids.length, new Set(ids).size]).toEqual([100, 100]);
    const numbers = (await readSeals(processor)).map(({ number }) => number);
    expect(numbers).toEqual(numbers.map((_, nth) => nth + 1));
    const { finding, transfers } = await processor.service.app.get(VerifyLedger).verifyPage(0);
    expect([finding, transfers]).toEqual([null, 101]);
  });

  test('are created by one replica at a time', async () => {
    await writeTransfers(1);
    // SealRepository takes this advisory lock.
    await using lock = await holdLocks(processor.dataSource, `SELECT pg_advisory_xact_lock(4017016)`);
    expect(await processor.sealLedger()).toBe(0);
    await lock.release();
    expect(await processor.sealLedger()).toBe(1);
  });
});

test('the gauge reports the age of the oldest unsealed transfer, also while an older transaction delays the seal', async () => {
  const readAge = async () => (await gauges.read('svc.ledger.unsealed.age')).map(({ value }) => value);
  expect(await readAge()).toEqual([0]);
  await using olderTransaction = await openOlderTransaction();
  await writeTransfers(1);
  processor.clock.advance(90_000);
  await processor.sealLedger();
  expect(await readAge()).toEqual([90]);
  await olderTransaction.end();
  await processor.sealLedger();
  expect(await readAge()).toEqual([0]);
});

describe('a day', () => {
  test('is closed at 00:05 UTC of the next day; a table and the log contain the hash of its newest seal', async () => {
    const previousDay = { day: '2026-02-28', sealNumber: 0, root: '00'.repeat(32) };
    expect(await listDays()).toMatchObject([previousDay]);
    const logSpy = jest.spyOn(processor.service.app.get<ServiceLog>(SERVICE_LOG), 'info');
    await writeTransfers(1);
    advanceTo('2026-03-02T00:04:59.999Z');
    await processor.sealLedger();
    expect(await listDays()).toMatchObject([previousDay]);
    advanceTo('2026-03-02T00:05:00.000Z');
    await processor.sealLedger();
    const { hash: root } = (await readSeals(processor)).at(-1)!;
    expect(await listDays()).toEqual([
      { day: '2026-03-01', sealNumber: 2, root, closedUTCDate: '2026-03-02T00:05:00.000Z' },
      { ...previousDay, closedUTCDate: '2026-03-01T10:00:00.000Z' },
    ]);
    await processor.sealLedger();
    expect(logSpy.mock.calls).toEqual([[{ day: '2026-03-01', sealNumber: 2, root }, 'the ledger of a day is closed']]);
  });

  test('stays open until all its transfers are sealed', async () => {
    await using olderTransaction = await openOlderTransaction();
    await writeTransfers(1);
    advanceTo('2026-03-02T09:00:00.000Z');
    await processor.sealLedger();
    expect((await listDays()).map(({ day }) => day)).toEqual(['2026-02-28']);
    await olderTransaction.end();
    await processor.sealLedger();
    expect((await listDays()).map(({ day, sealNumber }) => [day, sealNumber])).toEqual([
      ['2026-03-01', 2],
      ['2026-02-28', 0],
    ]);
  });

  test('stays open until 00:05 UTC of the next day, also if the oldest unsealed transfer belongs to the next day', async () => {
    advanceTo('2026-03-03T00:04:59.999Z');
    await using olderTransaction = await openOlderTransaction();
    await writeTransfers(1);
    await processor.sealLedger();
    const closedDays = await listDays();
    await olderTransaction.end();
    expect(closedDays.map(({ day }) => day)).toEqual(['2026-03-01', '2026-02-28']);
  });

  test('stays open while a batch is full, because more transfers may follow', async () => {
    await writeTransfers(2);
    advanceTo('2026-03-02T09:00:00.000Z');
    await processor.sealLedger(1);
    expect(await listDays()).toHaveLength(1);
    await processor.sealLedger(2);
    expect(await listDays()).toHaveLength(2);
  });

  test('is closed once, also with several replicas; after an outage all missed days are closed, including days without transfers', async () => {
    const { service, clock } = processor;
    advanceTo('2026-03-04T12:00:00.000Z');
    const log = service.app.get<ServiceLog>(SERVICE_LOG);
    const replicas = [1, 2, 3].map(() => new SealLedger(service.app.get(SealRepository), clock, log));
    await Promise.all(replicas.map((replica) => replica.runStep()));
    expect((await listDays()).map(({ day, sealNumber }) => [day, sealNumber])).toEqual([
      ['2026-03-03', 1],
      ['2026-03-02', 1],
      ['2026-03-01', 1],
      ['2026-02-28', 0],
    ]);
  });

  test('causes a logged error if it receives a transfer after its closing; a transfer of the next day causes none', async () => {
    const logSpy = jest.spyOn(processor.service.app.get<ServiceLog>(SERVICE_LOG), 'error');
    advanceTo('2026-03-02T00:05:00.000Z');
    await processor.sealLedger();
    await writeTransfers(1);
    expect(await processor.sealLedger()).toBe(1);
    expect(logSpy).not.toHaveBeenCalled();
    await writeTransfers(1, { createdAt: new Date('2026-03-01T23:59:59.999Z') });
    await processor.sealLedger();
    expect(logSpy.mock.calls).toEqual([
      [{ createdUTCDate: '2026-03-01T23:59:59.999Z' }, 'a transfer was committed after its time was closed'],
    ]);
  });
});
