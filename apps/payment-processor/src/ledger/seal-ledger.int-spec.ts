import { createHash } from 'node:crypto';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { GaugeReader, openOlderTransaction } from '@svc/testing';
import { forge, sealsOf, type TransferWriter, transferWriter } from '../../test/ledger.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { SealRepository } from './seal.repository.js';
import { SealLedger } from './seal-ledger.js';
import { VerifyLedger } from './verify-ledger.js';

let gauges: GaugeReader;
let processor: Processor;
let write: TransferWriter;
beforeEach(async () => {
  gauges = GaugeReader.begin();
  processor = await startProcessor();
  write = await transferWriter(processor);
  await processor.seal();
});
afterEach(async () => {
  jest.restoreAllMocks();
  await processor.stop();
  gauges.end();
});

const sealedIds = async (): Promise<string[]> =>
  (await sealsOf(processor)).slice(1).flatMap(({ transferIds }) => transferIds);
const advanceTo = (time: string): void =>
  processor.clock.advance(new Date(time).getTime() - processor.clock.now().getTime());
const days = () => processor.service.app.get(SealRepository).listDays(10);

describe('seals', () => {
  test('contain the committed transfers, in order, up to the limit; without transfers there is no seal', async () => {
    const ids = [...(await write(4)), ...(await write(3))];
    expect([
      await processor.seal(3),
      await processor.seal(3),
      await processor.seal(3),
      await processor.seal(3),
    ]).toEqual([3, 3, 1, 0]);
    expect((await sealsOf(processor)).map(({ number, transferIds }) => [number, transferIds.length])).toEqual([
      [1, 1],
      [2, 3],
      [3, 3],
      [4, 1],
    ]);
    expect(await sealedIds()).toEqual(ids);
  });

  test('accept only transfers with the id of their own transaction, because others could prevent the closing of days', async () => {
    const [id] = await write(1);
    const copy = (txid: string): Promise<unknown> =>
      processor.superuser.query(
        `INSERT INTO transfers (transfer_id, kind, debit_account, credit_account, amount, currency, mode, merchant_id, payment_id, created_at, txid)
         SELECT gen_random_uuid(), kind, debit_account, credit_account, amount, currency, mode, merchant_id, payment_id, created_at, ${txid}
           FROM transfers WHERE transfer_id = '${id}'`,
      );
    await expect(copy(`'18446744073709551615'::xid8`)).rejects.toMatchObject({ constraint: 'transfers_txid' });
    await copy('pg_current_xact_id()');
    expect(await processor.seal()).toBe(2);
  });

  test('are not created for transfers of a server with higher transaction ids: no day is closed, and the gauge reports it', async () => {
    await write(1);
    await forge(
      processor,
      `INSERT INTO ledger_seals SELECT seal_number + 1, hash, hash, '18446744073709551615', last_position, transfer_count, transfer_ids, transfer_hashes, sealed_at
         FROM ledger_seals ORDER BY seal_number DESC LIMIT 1`,
    );
    const log = { info: jest.fn(), error: jest.fn() } as unknown as ServiceLog;
    const sealer = new SealLedger(processor.service.app.get(SealRepository), processor.clock, log);
    advanceTo('2026-03-02T00:05:00Z');
    expect([await sealer.runOnce(), await sealer.runOnce()]).toEqual([0, 0]);
    expect(log.error).toHaveBeenCalledTimes(1);
    expect((await days()).map(({ day }) => day)).toEqual(['2026-02-28']);
    expect(await gauges.read('svc.ledger.unsealed.age')).toMatchObject([{ value: 86_400 }]);
  });

  test('can be recomputed from the rows: SHA-256 of the previous hash and of each row as text', async () => {
    await write(2);
    await processor.seal();
    const rows = await processor.dataSource.query<Record<string, unknown>[]>(
      `SELECT t.*, t.txid::text AS txid, (extract(epoch FROM t.created_at) * 1000000)::bigint AS created_at FROM transfers t ORDER BY t.txid, t.position`,
    );
    const sha256 = (...parts: (string | Buffer)[]): Buffer => {
      const hash = createHash('sha256');
      for (const part of parts) hash.update(part);
      return hash.digest();
    };
    /** As PostgreSQL writes jsonb: shorter names first. */
    const textOf = (row: Record<string, unknown>): string => {
      const members = Object.entries(row).filter(([, value]) => value !== null);
      const sorted = members.toSorted(([a], [b]) => a.length - b.length || (a < b ? -1 : 1));
      return `{${sorted.map(([name, value]) => `"${name}": ${JSON.stringify(value)}`).join(', ')}}`;
    };
    const hashes = rows.map((row) => sha256(textOf(row)));
    const first = sha256(Buffer.alloc(32), hashes[0]!);
    const second = sha256(first, ...hashes.slice(1));
    expect((await sealsOf(processor)).map(({ previousHash, hash }) => [previousHash, hash])).toEqual([
      ['00'.repeat(32), first.toString('hex')],
      [first.toString('hex'), second.toString('hex')],
    ]);
  });

  test('never skip a transfer of an older transaction that commits later', async () => {
    const older = processor.dataSource.createQueryRunner();
    await older.startTransaction();
    const [late] = await write(1, { connection: older });
    const committed = await write(2);
    expect(await processor.seal()).toBe(0);
    await older.commitTransaction();
    await older.release();
    expect(await processor.seal()).toBe(3);
    expect(await sealedIds()).toEqual([late, ...committed]);
  });

  test('omit transfers that were rolled back', async () => {
    const other = processor.dataSource.createQueryRunner();
    await other.startTransaction();
    await write(1, { connection: other });
    await other.rollbackTransaction();
    await other.release();
    const committed = await write(1);
    await processor.seal();
    expect(await sealedIds()).toEqual(committed);
  });

  test('of many concurrent jobs are one chain with each transfer once, while transfers are committed', async () => {
    const writers = Array.from({ length: 20 }, () => write(5));
    const sealers = Array.from({ length: 40 }, () => processor.seal(7));
    await Promise.all([...writers, ...sealers]);
    while ((await processor.seal(7)) > 0);
    const ids = await sealedIds();
    expect([ids.length, new Set(ids).size]).toEqual([100, 100]);
    const numbers = (await sealsOf(processor)).map(({ number }) => number);
    expect(numbers).toEqual(numbers.map((_, nth) => nth + 1));
    const { finding, transfers } = await processor.service.app.get(VerifyLedger).verifyPage(0);
    expect([finding, transfers]).toEqual([null, 101]);
  });

  test('are created by one replica at a time', async () => {
    await write(1);
    const other = processor.dataSource.createQueryRunner();
    await other.startTransaction();
    await other.query(`SELECT pg_advisory_xact_lock(4017016)`);
    expect(await processor.seal()).toBe(0);
    await other.rollbackTransaction();
    await other.release();
    expect(await processor.seal()).toBe(1);
  });
});

test('the age of the oldest unsealed transfer is reported, also while an older transaction delays it', async () => {
  const age = async () => (await gauges.read('svc.ledger.unsealed.age')).map(({ value }) => value);
  expect(await age()).toEqual([0]);
  const older = await openOlderTransaction();
  await write(1);
  processor.clock.advance(90_000);
  await processor.seal();
  expect(await age()).toEqual([90]);
  await older.end();
  await processor.seal();
  expect(await age()).toEqual([0]);
});

describe('a day', () => {
  test('is closed at 00:05 UTC of the next one, with the hash of the newest seal, in a table and in the log', async () => {
    const before = { day: '2026-02-28', sealNumber: 0, root: '00'.repeat(32) };
    expect(await days()).toMatchObject([before]);
    const logged = jest.spyOn(processor.service.app.get<ServiceLog>(SERVICE_LOG), 'info');
    await write(1);
    advanceTo('2026-03-02T00:04:59.999Z');
    await processor.seal();
    expect(await days()).toMatchObject([before]);
    advanceTo('2026-03-02T00:05:00.000Z');
    await processor.seal();
    const { hash: root } = (await sealsOf(processor)).at(-1)!;
    expect(await days()).toEqual([
      { day: '2026-03-01', sealNumber: 2, root, closedUTCDate: '2026-03-02T00:05:00.000Z' },
      { ...before, closedUTCDate: '2026-03-01T10:00:00.000Z' },
    ]);
    await processor.seal();
    expect(logged.mock.calls).toEqual([[{ day: '2026-03-01', sealNumber: 2, root }, 'the ledger of a day is closed']]);
  });

  test('stays open until all its transfers are sealed', async () => {
    const older = await openOlderTransaction();
    await write(1);
    advanceTo('2026-03-02T09:00:00.000Z');
    await processor.seal();
    expect((await days()).map(({ day }) => day)).toEqual(['2026-02-28']);
    await older.end();
    await processor.seal();
    expect((await days()).map(({ day, sealNumber }) => [day, sealNumber])).toEqual([
      ['2026-03-01', 2],
      ['2026-02-28', 0],
    ]);
  });

  test('stays open while a batch is full, because more may follow', async () => {
    await write(2);
    advanceTo('2026-03-02T09:00:00.000Z');
    await processor.seal(1);
    expect(await days()).toHaveLength(1);
    await processor.seal(2);
    expect(await days()).toHaveLength(2);
  });

  test('is closed once, also by two replicas; after an outage all missed days are closed, also those without transfers', async () => {
    const { service, clock } = processor;
    advanceTo('2026-03-04T12:00:00.000Z');
    const log = service.app.get<ServiceLog>(SERVICE_LOG);
    const replicas = [1, 2, 3].map(() => new SealLedger(service.app.get(SealRepository), clock, log));
    await Promise.all(replicas.map((replica) => replica.runOnce()));
    expect((await days()).map(({ day, sealNumber }) => [day, sealNumber])).toEqual([
      ['2026-03-03', 1],
      ['2026-03-02', 1],
      ['2026-03-01', 1],
      ['2026-02-28', 0],
    ]);
  });

  test('that gets a transfer after it was closed is logged as an error', async () => {
    const logged = jest.spyOn(processor.service.app.get<ServiceLog>(SERVICE_LOG), 'error');
    advanceTo('2026-03-02T00:05:00.000Z');
    await processor.seal();
    await write(1, { createdAt: new Date('2026-03-01T23:59:59.999Z') });
    await processor.seal();
    expect(logged.mock.calls).toEqual([[{ day: '2026-03-01' }, 'a transfer was committed after its day was closed']]);
  });
});
