import type { DataSource } from 'typeorm';
import { ConsumerRefusedError, type RelayTarget } from '../broker/broker.js';
import { LOG_BEGINNING } from '../event-log/log-cursor.js';
import { GroupDelivery } from './group-delivery.js';
import type { RelayLoop } from './relay-loop.js';
import type { TargetDelivery } from './target-delivery.js';

type FakeLoop = Pick<RelayLoop, 'isCaughtUp' | 'ended' | 'end' | 'task'>;

let nowMs: number;
let consumers: string[];
let startedLoops: FakeLoop[];
const consumerTargets = jest.fn(() =>
  Promise.resolve(consumers.map((name): RelayTarget => ({ name, deliver: () => Promise.resolve() }))),
);
const progress = {
  isLoaded: true,
  save: () => Promise.resolve(),
  discard: jest.fn(() => void (progress.isLoaded = false)),
};
const deliverTogether = jest.fn();
const query = jest.fn();
const log = { info: jest.fn(), warn: jest.fn(), error: jest.fn() };

beforeEach(() => {
  nowMs = 100_000;
  jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
  jest.clearAllMocks();
  [consumers, startedLoops] = [['target/1', 'target/2'], []];
  progress.isLoaded = true;
  deliverTogether.mockReset().mockRejectedValueOnce(new ConsumerRefusedError('full')).mockResolvedValue('together');
  query.mockResolvedValue([]);
});
afterEach(() => jest.restoreAllMocks());

function newGroup(): GroupDelivery {
  const startLoop = ({ name }: RelayTarget): RelayLoop => {
    const task = { name, progress: { cursor: () => Promise.resolve(LOG_BEGINNING) } };
    // A loop that ends during a step has not caught up.
    const end = jest.fn(() => void (loop.isCaughtUp = false));
    const loop = { isCaughtUp: false, ended: Promise.resolve(), end, task };
    startedLoops.push(loop as unknown as FakeLoop);
    return loop as unknown as RelayLoop;
  };
  const target = { name: 'target', deliver: () => Promise.resolve(), consumerTargets };
  const together = { progress, step: deliverTogether } as unknown as TargetDelivery;
  return new GroupDelivery(target, together, { dataSource: { query } as unknown as DataSource, log, startLoop });
}

const startedNames = (): string[] => startedLoops.map(({ task }) => task.name);

test('a group whose consumers are separated searches for new consumers every five seconds', async () => {
  const group = newGroup();
  await group.step();
  consumers.push('target/3');
  nowMs += 5_000;
  await group.step();
  expect([consumerTargets.mock.calls.length, startedNames()]).toEqual([1, ['target/1', 'target/2']]);
  nowMs += 1;
  for (let times = 0; times < 2; times++) await group.step();
  expect([consumerTargets.mock.calls.length, startedNames()]).toEqual([2, ['target/1', 'target/2', 'target/3']]);
});

test('the consumers share a cursor again when all have caught up, and not while a new consumer has received nothing', async () => {
  const group = newGroup();
  await group.step();
  startedLoops[0]!.isCaughtUp = true;
  await group.step();
  expect(startedLoops[0]!.end).not.toHaveBeenCalled();
  startedLoops[1]!.isCaughtUp = true;
  consumers.push('target/3');
  await group.step();
  expect(startedNames().slice(2)).toEqual(['target/1', 'target/2', 'target/3']);
  expect(query).not.toHaveBeenCalled();

  for (const loop of startedLoops) loop.isCaughtUp = true;
  await group.step();
  expect(query).toHaveBeenCalledTimes(1);
  query.mockResolvedValueOnce([{ has: false }]);
  expect(await group.step()).toBe('together');
});

test('if the consumers cannot be joined, the next step tries it again instead of delivering to all together', async () => {
  const group = newGroup();
  await group.step();
  for (const loop of startedLoops) loop.isCaughtUp = true;
  consumerTargets.mockRejectedValueOnce(new Error('unavailable'));
  await expect(group.step()).rejects.toThrow('unavailable');
  // The cursors of the consumers still exist.
  query.mockResolvedValueOnce([{ has: true }]);
  expect(await group.step()).not.toBe('together');
  expect(startedNames()).toEqual(['target/1', 'target/2', 'target/1', 'target/2']);
  for (const loop of startedLoops) loop.isCaughtUp = true;
  await group.step();
  query.mockResolvedValueOnce([{ has: false }]);
  expect(await group.step()).toBe('together');
});

test('without a list of the consumers, the refusal is an error', async () => {
  consumers = [];
  await expect(newGroup().step()).rejects.toThrow(ConsumerRefusedError);
});
