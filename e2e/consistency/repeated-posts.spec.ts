import { findUnjustifiedPosts, type Interruption, type ReceivedPost, type RecordedAttempt } from './repeated-posts.js';

const START = Date.UTC(2026, 0, 5, 12);
const at = (seconds: number): Date => new Date(START + seconds * 1_000);

/** The sender signs a time in whole seconds. */
const post = (sent: number, over: Partial<ReceivedPost> = {}): ReceivedPost => ({
  webhookId: 'one',
  sentAt: at(Math.floor(sent)),
  endedAt: at(sent + 0.1),
  acknowledged: true,
  ...over,
});
const attempt = (started: number, over: Partial<RecordedAttempt> = {}): RecordedAttempt => ({
  webhookId: 'one',
  startedAt: at(started),
  durationMs: 100,
  outcome: 'acknowledged',
  errorClass: null,
  ...over,
});
const unanswered = (sent: number): ReceivedPost => post(sent, { endedAt: at(sent + 10), acknowledged: false });
const aborted = (started: number, over: Partial<RecordedAttempt> = {}): RecordedAttempt =>
  attempt(started, { durationMs: 10_003, outcome: 'unanswered', errorClass: 'timeout', ...over });
const killed = (seconds: number): Interruption => ({ from: at(seconds), to: at(seconds), drainMs: 0 });
const stopped = (from: number, to: number): Interruption => ({ from: at(from), to: at(to), drainMs: 5_000 });

describe('a justified POST', () => {
  it.each<[string, ReceivedPost[], RecordedAttempt[], Interruption[]]>([
    ['may be the only POST of its notification, recorded and acknowledged', [post(0.5)], [attempt(0.5)], []],
    ['may follow a POST that was aborted', [unanswered(0.5), post(15.2)], [aborted(0.5), attempt(15.2)], []],
    [
      'may follow a POST that was acknowledged just when it was aborted',
      [post(0.5, { endedAt: at(10.4) }), post(15)],
      [aborted(0.5), attempt(15)],
      [],
    ],
    ['may follow a POST whose sender was killed', [post(0.5), post(31)], [attempt(31)], [killed(2)]],
    [
      'may follow a POST that a stopping sender aborted',
      [post(0.5, { endedAt: at(7), acknowledged: false }), post(8)],
      [attempt(8)],
      [stopped(2, 9)],
    ],
    ['may follow POSTs of two killed senders', [post(0.5), post(31), post(70)], [attempt(70)], [killed(2), killed(32)]],
  ])('%s', (_, posts, attempts, interruptions) => {
    expect(findUnjustifiedPosts(posts, attempts, interruptions)).toEqual([]);
  });
});

describe('findUnjustifiedPosts', () => {
  it.each<[string, ReceivedPost[], RecordedAttempt[], Interruption[], string]>([
    ['that is not recorded', [post(0)], [], [], 'POST 1 of 1 is not recorded'],
    ['without a record of its own', [unanswered(0), post(0)], [aborted(0)], [], 'POST 2 of 2 is not recorded'],
    [
      'that follows an acknowledged POST',
      [post(0), post(6)],
      [attempt(0), attempt(6)],
      [],
      'POST 1 of 2 was acknowledged, and another followed',
    ],
    [
      'that follows a POST that was acknowledged long before its recorded end',
      [post(0, { endedAt: at(3) }), post(15)],
      [aborted(0), attempt(15)],
      [],
      'POST 1 of 2 was acknowledged after 3000 ms, but recorded as aborted',
    ],
    [
      'that follows a POST that was aborted too early',
      [unanswered(0), post(15)],
      [aborted(0, { durationMs: 2_000 }), attempt(15)],
      [],
      'POST 1 of 2 ended as timeout after 2000 ms',
    ],
    [
      'that follows a POST with a lost connection',
      [unanswered(0), post(15)],
      [aborted(0, { errorClass: 'connection-reset' }), attempt(15)],
      [],
      'POST 1 of 2 ended as connection-reset after 10003 ms',
    ],
    [
      'that is recorded as acknowledged, but was not acknowledged',
      [unanswered(0)],
      [attempt(0)],
      [],
      'POST 1 of 1 is recorded as acknowledged, but was not',
    ],
    [
      'that was aborted and never repeated',
      [unanswered(0)],
      [aborted(0)],
      [],
      'POST 1 of 1 was aborted, and no other followed',
    ],
    [
      'that was never repeated after its sender was killed',
      [post(0)],
      [],
      [killed(2)],
      'POST 1 of 1 is not recorded, and no other followed',
    ],
    [
      'that a sender repeated before it was killed',
      [post(0), post(1), post(31)],
      [attempt(31)],
      [killed(2)],
      'POST 2 of 3 is not recorded',
    ],
    ['that was sent after the kill', [post(3), post(31)], [attempt(31)], [killed(2)], 'POST 1 of 2 is not recorded'],
    [
      'that was sent long before the kill',
      [post(0), post(50)],
      [attempt(50)],
      [killed(40)],
      'POST 1 of 2 is not recorded',
    ],
    [
      'that a stopping sender aborted too early',
      [post(0, { endedAt: at(3), acknowledged: false }), post(8)],
      [attempt(8)],
      [stopped(2, 9)],
      'POST 1 of 2 is not recorded',
    ],
  ])('reports a POST %s', (_, posts, attempts, interruptions, fault) => {
    expect(findUnjustifiedPosts(posts, attempts, interruptions)).toEqual([`one: ${fault}`]);
  });

  it('reports a POST whose recorded attempt belongs to another notification', () => {
    const other = { webhookId: 'other' };
    expect(findUnjustifiedPosts([post(0), post(0, other)], [aborted(0, other)])).toEqual([
      'one: POST 1 of 1 is not recorded',
      expect.stringContaining('other: POST 1 of 1 was acknowledged after'),
    ]);
  });
});

test('a recorded attempt without a POST is reported', () => {
  expect(findUnjustifiedPosts([], [attempt(0.5)])).toEqual([
    'one: no POST for the attempt of 2026-01-05T12:00:00.500Z',
  ]);
});
