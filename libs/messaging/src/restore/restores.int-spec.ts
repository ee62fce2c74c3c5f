import { newDataSource } from '@svc/persistence';
import { ManualClock, newMessagingDatabase, type TestDatabase } from '@svc/testing';
import type { DataSource } from 'typeorm';
import { Restores } from './restores.js';

const clock = new ManualClock();
let database: TestDatabase;
let dataSource: DataSource;

beforeAll(async () => {
  database = await newMessagingDatabase();
  dataSource = await newDataSource({ url: database.url, applicationName: 'restores test' }).initialize();
});
beforeEach(() => dataSource.query('DELETE FROM restores'));
afterAll(async () => {
  await dataSource.destroy();
  await database.drop();
});

const mark = (): Promise<unknown> =>
  dataSource.query(`INSERT INTO restores (restored_to, marked_at) VALUES ($1, $1)`, [clock.now()]);

test('a database without a restore is queried once', async () => {
  const restores = new Restores(dataSource, clock);
  const query = jest.spyOn(dataSource, 'query');
  expect([await restores.findOpen(), await restores.findOpen()]).toEqual([undefined, undefined]);
  expect(query).toHaveBeenCalledTimes(1);
  query.mockRestore();
});

test('only one restore is open', async () => {
  await mark();
  await expect(mark()).rejects.toThrow('restores_one_open');
});

test('the replays are scheduled once, and not if the transaction that schedules them fails', async () => {
  await mark();
  const restores = new Restores(dataSource, clock);
  const restore = (await restores.findOpen())!;
  await expect(restores.requestReplays(restore, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  const schedule = jest.fn(() => Promise.resolve());
  await restores.requestReplays(restore, schedule);
  await restores.requestReplays(restore, schedule);
  expect(schedule).toHaveBeenCalledTimes(1);
});

test('a restore is closed once, after its replays were requested and are complete', async () => {
  await mark();
  const restores = new Restores(dataSource, clock);
  const restore = (await restores.findOpen())!;
  expect(restore).toMatchObject({ restoredTo: clock.now(), replayedAt: null });
  await restores.markReplayed(restore);
  expect(await restores.close(restore)).toBe(false);
  await restores.requestReplays(restore, () => Promise.resolve());
  expect(await restores.close(restore)).toBe(false);
  await restores.markReplayed(restore);
  expect(await restores.findOpen()).toMatchObject({ replayedAt: clock.now() });
  expect([await restores.close(restore), await restores.close(restore)]).toEqual([true, false]);
  expect(await restores.findOpen()).toBeUndefined();
});
