import type { SessionState } from './payment-flow.js';
import { StatePoller } from './state-poller.js';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

interface Stream {
  readonly emitState: (state: SessionState) => void;
  readonly emitError: () => void;
  isOpen: boolean;
}

/** Creates a poller whose polls return these states. A poll whose response is a pending promise hangs. */
function createPoller(responses: (SessionState | undefined | Promise<undefined>)[]) {
  const results: (string | undefined)[] = [];
  const streams: Stream[] = [];
  let pollCount = 0;
  const poller = new StatePoller(
    async () => responses[pollCount++],
    (state) => results.push(state.state),
    () => results.push(undefined),
    (emitState, emitError) => {
      const stream = { emitState, emitError, isOpen: true };
      streams.push(stream);
      return () => (stream.isOpen = false);
    },
  );
  return { poller, results, streams, countPolls: () => pollCount };
}
const processing = { state: 'processing' };

describe('StatePoller', () => {
  it('polls at growing intervals until it is stopped', async () => {
    const { poller, results, countPolls } = createPoller(Array.from({ length: 100 }, () => processing));
    poller.start();
    await jest.advanceTimersByTimeAsync(249);
    expect(countPolls()).toBe(0);
    await jest.advanceTimersByTimeAsync(1);
    expect(countPolls()).toBe(1);
    await jest.advanceTimersByTimeAsync(60_000);
    const pollsInAMinute = countPolls();
    expect(pollsInAMinute).toBeGreaterThan(30);
    expect(pollsInAMinute).toBeLessThan(40);
    poller.stop();
    await jest.advanceTimersByTimeAsync(60_000);
    expect(countPolls()).toBe(pollsInAMinute);
    expect(results).toHaveLength(pollsInAMinute);
  });

  it('continues to poll after a failure, and calls onFailure', async () => {
    const { poller, results } = createPoller([undefined, undefined, processing]);
    poller.start();
    await jest.advanceTimersByTimeAsync(250 + 350 + 490);
    expect(results).toEqual([undefined, undefined, 'processing']);
    poller.stop();
  });

  it('polls immediately when pollNow is called, and aborts a pending poll', async () => {
    const signals: AbortSignal[] = [];
    const results: string[] = [];
    const poller = new StatePoller(
      (signal) => {
        signals.push(signal);
        return signals.length === 1 ? new Promise(() => undefined) : Promise.resolve(processing);
      },
      (state) => results.push(state.state),
      () => results.push('failure'),
      () => () => undefined,
    );
    poller.start();
    await jest.advanceTimersByTimeAsync(5000);
    expect(signals).toHaveLength(1);
    poller.pollNow();
    await jest.advanceTimersByTimeAsync(0);
    expect(signals.map((signal) => signal.aborted)).toEqual([true, false]);
    expect(results).toEqual(['processing']);
    poller.stop();
  });

  it('does not report a failure of a poll that pollNow aborts, and polls again immediately', async () => {
    const results: string[] = [];
    let pollCount = 0;
    const poller = new StatePoller(
      (signal) => {
        const { promise, resolve } = Promise.withResolvers<SessionState | undefined>();
        signal.addEventListener('abort', () => resolve(undefined));
        if (++pollCount > 1) resolve(processing);
        return promise;
      },
      (state) => results.push(state.state),
      () => results.push('failure'),
      () => () => undefined,
    );
    poller.start();
    await jest.advanceTimersByTimeAsync(250);
    poller.pollNow();
    await jest.advanceTimersByTimeAsync(0);
    expect([pollCount, results]).toEqual([2, ['processing']]);
    poller.stop();
  });

  it('ignores another start while it polls', async () => {
    const { poller, countPolls } = createPoller([processing, processing]);
    poller.start();
    await jest.advanceTimersByTimeAsync(200);
    poller.start();
    await jest.advanceTimersByTimeAsync(50);
    expect(countPolls()).toBe(1);
    poller.stop();
  });

  it('does not poll again if onState stops it, for the state of a poll or of the stream', async () => {
    let stopsAt = 'succeeded';
    let pollCount = 0;
    const streams: ((state: SessionState) => void)[] = [];
    const poller = new StatePoller(
      () => Promise.resolve({ state: ++pollCount === 1 ? 'processing' : 'succeeded' }),
      ({ state }) => {
        if (state === stopsAt) poller.stop();
      },
      () => undefined,
      (emitState) => {
        streams.push(emitState);
        return () => undefined;
      },
    );
    poller.start();
    await jest.advanceTimersByTimeAsync(60_000);
    expect(pollCount).toBe(2);
    stopsAt = 'declined';
    poller.start();
    await jest.advanceTimersByTimeAsync(250);
    streams.at(-1)!({ state: 'declined' });
    await jest.advanceTimersByTimeAsync(60_000);
    expect([pollCount, streams.length]).toEqual([3, 2]);
  });

  it('starts no other poll while a poll is pending, also if the stream sends an event', async () => {
    const { poller, streams, countPolls } = createPoller([processing, new Promise(() => undefined)]);
    poller.start();
    await jest.advanceTimersByTimeAsync(250 + 350);
    expect(countPolls()).toBe(2);
    streams[0]!.emitState(processing);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(countPolls()).toBe(2);
    poller.stop();
  });

  it('polls only 12 seconds after the last event of the stream, and immediately when the stream breaks', async () => {
    const { poller, results, streams, countPolls } = createPoller(Array.from({ length: 100 }, () => processing));
    poller.start();
    await jest.advanceTimersByTimeAsync(250);
    const [{ emitState, emitError }] = streams as [Stream];
    emitState(processing);
    await jest.advanceTimersByTimeAsync(11_000);
    emitState(processing);
    await jest.advanceTimersByTimeAsync(11_000);
    expect([countPolls(), results.length]).toEqual([1, 3]);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(countPolls()).toBe(2);
    emitError();
    await jest.advanceTimersByTimeAsync(0);
    expect(countPolls()).toBe(3);
    // Further errors of the stream do not change the interval.
    emitError();
    await jest.advanceTimersByTimeAsync(350 + 490);
    expect([countPolls(), streams.length]).toEqual([5, 1]);
    poller.stop();
    emitState(processing);
    expect(results).toHaveLength(7);
  });

  it('closes the stream when it stops, ignores later events of that stream, and opens another after the next start', async () => {
    const { poller, results, streams, countPolls } = createPoller(Array.from({ length: 100 }, () => processing));
    const openStreams = () => streams.map(({ isOpen }) => isOpen);
    poller.start();
    expect(openStreams()).toEqual([]);
    await jest.advanceTimersByTimeAsync(250);
    streams[0]!.emitState(processing);
    expect(openStreams()).toEqual([true]);
    poller.stop();
    expect(openStreams()).toEqual([false]);

    poller.start();
    await jest.advanceTimersByTimeAsync(249);
    streams[0]!.emitState({ state: 'declined' });
    streams[0]!.emitError();
    await jest.advanceTimersByTimeAsync(0);
    expect([results, countPolls()]).toEqual([['processing', 'processing'], 1]);
    // The new stream has sent no event yet, so the next poll follows after the usual interval.
    await jest.advanceTimersByTimeAsync(1 + 350);
    expect([countPolls(), openStreams()]).toEqual([3, [false, true]]);
    streams[1]!.emitState(processing);
    streams[0]!.emitError();
    await jest.advanceTimersByTimeAsync(1_000);
    expect(countPolls()).toBe(3);
    poller.stop();
  });

  it('polls at the usual intervals after a poll has failed, although the stream seems open', async () => {
    const { poller, streams, countPolls } = createPoller([processing, undefined, undefined]);
    poller.start();
    await jest.advanceTimersByTimeAsync(250);
    streams[0]!.emitState(processing);
    await jest.advanceTimersByTimeAsync(12_000);
    expect(countPolls()).toBe(2);
    await jest.advanceTimersByTimeAsync(2_000);
    expect(countPolls()).toBeGreaterThan(2);
    poller.stop();
  });

  it('does not poll before start, and ignores the result of a poll after stop', async () => {
    const { poller, results, countPolls } = createPoller([processing]);
    poller.pollNow();
    await jest.advanceTimersByTimeAsync(1000);
    expect(countPolls()).toBe(0);
    poller.start();
    jest.advanceTimersByTime(250);
    poller.stop();
    await jest.advanceTimersByTimeAsync(1000);
    expect(results).toEqual([]);
  });
});
