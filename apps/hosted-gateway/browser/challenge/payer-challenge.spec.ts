import type { ChallengeTask } from '../../src/challenge/challenge-work.js';
import { PayerChallenge } from './payer-challenge.js';

const NOW = new Date('2026-03-01T10:00:00.000Z');
const LIFETIME_MS = 300_000;

let nowMs: number;
/** Responses to requests for a challenge, in their order. */
let responses: ({ challenge?: string } | undefined)[];
let requestCount: number;
/** The numbers of the challenges that wait for a solution. */
let solving: Map<string, (solution: number) => void>;
let waiting: boolean[];

beforeEach(() => {
  nowMs = NOW.getTime();
  responses = [];
  requestCount = 0;
  solving = new Map();
  waiting = [];
});

const text = (id: string): string => `${id}.payable.1000.${nowMs + LIFETIME_MS}.digest.signature`;

function create(first?: string, solve?: (task: ChallengeTask) => Promise<number>): PayerChallenge {
  return new PayerChallenge(first, {
    request: () => Promise.resolve(responses[requestCount++]),
    solve: solve ?? (({ id }) => new Promise((resolve) => solving.set(id, resolve))),
    now: () => new Date(nowMs),
    showWaiting: (isWaiting) => waiting.push(isWaiting),
    showProgress: () => undefined,
  });
}

/** Lets the promises that are ready continue. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('a page without a challenge sends no solution, and requests none', async () => {
  const challenge = create();
  await challenge.finishFirst();
  challenge.markUsed();
  challenge.prepareNext();
  expect([await challenge.getSolution(), requestCount, waiting]).toEqual([{}, 0, []]);
});

test('the challenge of the page is solved once, immediately, and the payer does not wait for it again', async () => {
  const first = text('one');
  const challenge = create(first);
  let isFinished = false;
  const finished = challenge.finishFirst().then(() => (isFinished = true));
  await settle();
  expect(isFinished).toBe(false);
  solving.get('one')!(7);
  await finished;
  const solution = { challenge: first, solution: 7 };
  expect([await challenge.getSolution(), await challenge.getSolution()]).toEqual([solution, solution]);
  expect([requestCount, waiting]).toEqual([0, []]);
});

test('an expired solution is replaced before the payment, and the payer sees the progress', async () => {
  const challenge = create(text('one'));
  solving.get('one')!(7);
  await challenge.finishFirst();
  await settle();
  nowMs += LIFETIME_MS - 15_000;
  expect(await challenge.getSolution()).toMatchObject({ solution: 7 });
  nowMs += 1;
  const next = text('two');
  responses = [{ challenge: next }];
  const solution = challenge.getSolution();
  await settle();
  expect(waiting).toEqual([true]);
  solving.get('two')!(8);
  expect(await solution).toEqual({ challenge: next, solution: 8 });
  expect(waiting).toEqual([true, false]);
});

test('after a payment has used the solution, the next challenge is solved in the background, once', async () => {
  const challenge = create(text('one'));
  solving.get('one')!(7);
  await challenge.finishFirst();
  challenge.prepareNext();
  expect(requestCount).toBe(0);
  challenge.markUsed();
  responses = [{ challenge: text('two') }];
  challenge.prepareNext();
  challenge.prepareNext();
  await settle();
  expect([requestCount, waiting]).toEqual([1, []]);
  const solution = challenge.getSolution();
  solving.get('two')!(8);
  expect(await solution).toMatchObject({ solution: 8 });
  expect([requestCount, waiting]).toEqual([1, [true, false]]);
});

test('a payment during the request for the next challenge waits for the same challenge', async () => {
  const challenge = create(text('one'));
  solving.get('one')!(7);
  await challenge.finishFirst();
  challenge.markUsed();
  responses = [{ challenge: text('two') }];
  challenge.prepareNext();
  const solution = challenge.getSolution();
  await settle();
  solving.get('two')!(8);
  expect([await solution, requestCount]).toEqual([expect.objectContaining({ solution: 8 }), 1]);
});

test('a page without a challenge solves one when the server requires it', async () => {
  const challenge = create();
  challenge.requireAnother();
  responses = [{ challenge: text('two') }];
  const solution = challenge.getSolution();
  await settle();
  solving.get('two')!(8);
  expect(await solution).toMatchObject({ solution: 8 });
});

test('no solution is sent if the attack has ended meanwhile', async () => {
  const challenge = create(text('one'));
  challenge.requireAnother();
  responses = [{}];
  expect([await challenge.getSolution(), await challenge.getSolution(), requestCount]).toEqual([{}, {}, 1]);
});

test('if the server cannot be reached, there is no solution, and the next payment requests it again', async () => {
  const challenge = create();
  challenge.requireAnother();
  responses = [undefined, { challenge: text('two') }];
  expect([await challenge.getSolution(), waiting]).toEqual([undefined, [true, false]]);
  const solution = challenge.getSolution();
  await settle();
  solving.get('two')!(8);
  expect(await solution).toMatchObject({ solution: 8 });
});

test('an unreadable or insoluble challenge is sent without a solution, so that the server decides', async () => {
  const insoluble = create(text('one'), () => Promise.reject(new Error('no solution')));
  await insoluble.finishFirst();
  expect(await insoluble.getSolution()).toEqual({});
  responses = [{ challenge: text('two') }];
  expect(await create('unreadable', () => Promise.resolve(3)).getSolution()).toMatchObject({ solution: 3 });
});
