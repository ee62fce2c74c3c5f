import type { MessagingLog } from '../log.js';
import { ReplayAfterRestore } from './replay-after-restore.js';
import type { OpenRestore, Restores } from './restores.js';

const log: MessagingLog = { info: () => undefined, warn: () => undefined, error: () => undefined };
let restore: OpenRestore | undefined;
let scheduled: number;
let isComplete: boolean;
const calls: string[] = [];
const replays = {
  scheduleReplayOfAll: () => Promise.resolve(void calls.push('schedule')),
  requestReplay: () => Promise.resolve(void calls.push('request')),
  isReplayOfAllComplete: () => Promise.resolve(isComplete),
};
const restores = {
  findOpen: () => Promise.resolve(restore),
  requestReplays: async (_: OpenRestore, schedule: (tx: never) => Promise<void>) => {
    if (scheduled++ === 0) await schedule(undefined as never);
  },
  markReplayed: () => {
    calls.push('replayed');
    restore = { ...restore!, replayedAt: new Date() };
    return Promise.resolve();
  },
  close: () => {
    calls.push('closed');
    restore = undefined;
    return Promise.resolve(true);
  },
} as unknown as Restores;

beforeEach(() => {
  const at = new Date('2026-03-01T10:00:00.000Z');
  restore = { restoreId: 'r', restoredTo: at, markedAt: at, replayedAt: null };
  [scheduled, isComplete] = [0, false];
  calls.length = 0;
});

test('the forgotten events are scheduled once and requested until they have been handled, and then the restore is closed', async () => {
  const replay = new ReplayAfterRestore(restores, replays, log, true);
  await replay.runStep();
  await replay.runStep();
  expect(calls).toEqual(['schedule', 'request', 'request']);
  isComplete = true;
  await replay.runStep();
  expect(calls.slice(3)).toEqual(['request', 'replayed', 'closed']);
  await replay.runStep();
  expect(calls).toHaveLength(6);
});

test('a restore that an administrator must open stays open after the replay, and requests nothing more', async () => {
  const replay = new ReplayAfterRestore(restores, replays, log, false);
  isComplete = true;
  await replay.runStep();
  await replay.runStep();
  expect(calls).toEqual(['schedule', 'request', 'replayed']);
});

test('without an open restore nothing is started', async () => {
  restore = undefined;
  const replay = new ReplayAfterRestore(restores, replays, log, true);
  await replay.start();
  await replay.stop();
  expect(calls).toEqual([]);
});
