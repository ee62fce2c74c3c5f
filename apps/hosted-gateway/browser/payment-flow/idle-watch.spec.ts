import { EXPIRY_MARGIN_MS, IdleWatch, MAX_TIMER_MS, RETRY_MS, STREAM_DELAY_MS } from './idle-watch.js';
import type { SessionState } from './payment-flow.js';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

interface Stream {
  readonly emitState: (state: SessionState) => void;
  readonly emitError: (isClosed: boolean) => void;
  isOpen: boolean;
}

function createWatch() {
  const streams: Stream[] = [];
  const receivedStates: string[] = [];
  const page = { isVisible: true, fetchCount: 0, response: Promise.resolve<SessionState>({ state: 'fetched' }) };
  const watch = new IdleWatch({
    isVisible: () => page.isVisible,
    fetchState: () => {
      page.fetchCount++;
      return page.response;
    },
    openStream: (emitState, emitError) => {
      const stream: Stream = { emitState, emitError, isOpen: true };
      streams.push(stream);
      return () => (stream.isOpen = false);
    },
    onState: ({ state }) => receivedStates.push(state),
  });
  return {
    watch,
    streams,
    receivedStates,
    page,
    countOpenStreams: () => streams.filter(({ isOpen }) => isOpen).length,
  };
}

describe('IdleWatch', () => {
  it('opens a stream shortly after start, and calls onState with its states', async () => {
    const { watch, streams, receivedStates, countOpenStreams } = createWatch();
    watch.start();
    await jest.advanceTimersByTimeAsync(STREAM_DELAY_MS - 1);
    expect(countOpenStreams()).toBe(0);
    await jest.advanceTimersByTimeAsync(1);
    expect(countOpenStreams()).toBe(1);
    streams[0]!.emitState({ state: 'processing' });
    expect(receivedStates).toEqual(['processing']);
  });

  it('closes the stream and ignores its states after stop, and opens another stream after the next start', async () => {
    const { watch, streams, receivedStates, countOpenStreams } = createWatch();
    watch.start(0);
    await jest.advanceTimersByTimeAsync(0);
    watch.stop();
    streams[0]!.emitState({ state: 'succeeded' });
    await jest.advanceTimersByTimeAsync(60_000);
    expect([receivedStates, countOpenStreams()]).toEqual([[], 0]);
    watch.start();
    await jest.advanceTimersByTimeAsync(STREAM_DELAY_MS);
    expect([streams.length, countOpenStreams()]).toEqual([2, 1]);
  });

  it('ignores the response to a request that it sent before stop, also after a restart', async () => {
    const { watch, receivedStates, page } = createWatch();
    const requestBeforeStop = Promise.withResolvers<SessionState>();
    page.response = requestBeforeStop.promise;
    watch.start(0);
    const pendingFetch = watch.fetchNow();
    watch.stop();
    watch.start(0);
    requestBeforeStop.resolve({ state: 'older' });
    await pendingFetch;
    expect(receivedStates).toEqual([]);
    page.response = Promise.resolve({ state: 'newer' });
    await watch.fetchNow();
    expect(receivedStates).toEqual(['newer']);
    watch.stop();
    await watch.fetchNow();
    expect(receivedStates).toEqual(['newer']);
  });

  it('does nothing when the tab becomes visible before start, and after stop', async () => {
    const { watch, streams, receivedStates, page } = createWatch();
    watch.onVisibilityChange();
    await jest.advanceTimersByTimeAsync(60_000);
    watch.start();
    watch.stop();
    watch.onVisibilityChange();
    await jest.advanceTimersByTimeAsync(60_000);
    expect([streams.length, receivedStates, page.fetchCount]).toEqual([0, [], 0]);
  });

  it('ignores a state that it fetches before start', async () => {
    const { watch, receivedStates } = createWatch();
    await watch.fetchNow();
    expect(receivedStates).toEqual([]);
  });

  it('opens no stream after a start in a hidden tab', async () => {
    const { watch, streams, page } = createWatch();
    page.isVisible = false;
    watch.start();
    await jest.advanceTimersByTimeAsync(60_000);
    expect(streams).toEqual([]);
  });

  it('has only one open stream after repeated starts, and opens it after the delay of the last start', async () => {
    const { watch, streams, countOpenStreams } = createWatch();
    watch.start(0);
    watch.start();
    await jest.advanceTimersByTimeAsync(STREAM_DELAY_MS - 1);
    expect(streams).toEqual([]);
    await jest.advanceTimersByTimeAsync(1);
    expect(streams).toHaveLength(1);
    watch.start();
    await jest.advanceTimersByTimeAsync(STREAM_DELAY_MS);
    expect([streams.length, countOpenStreams()]).toEqual([2, 1]);
  });

  it('leaves no timer behind after stop', () => {
    const { watch } = createWatch();
    watch.start();
    watch.stop();
    expect(jest.getTimerCount()).toBe(0);
  });

  it('has no stream while the tab is hidden, and fetches the state when the tab becomes visible', async () => {
    const { watch, receivedStates, page, countOpenStreams } = createWatch();
    watch.start(0);
    await jest.advanceTimersByTimeAsync(0);
    page.isVisible = false;
    watch.onVisibilityChange();
    await jest.advanceTimersByTimeAsync(60_000);
    expect([countOpenStreams(), page.fetchCount]).toEqual([0, 0]);
    page.isVisible = true;
    watch.onVisibilityChange();
    await jest.advanceTimersByTimeAsync(0);
    expect([countOpenStreams(), receivedStates]).toEqual([1, ['fetched']]);
  });

  it('fetches the state if the server rejects the stream, and later opens another stream', async () => {
    const { watch, streams, page, countOpenStreams } = createWatch();
    watch.start(0);
    await jest.advanceTimersByTimeAsync(0);
    for (let count = 1; count <= 3; count++) {
      streams.at(-1)!.emitError(true);
      expect(countOpenStreams()).toBe(0);
      await jest.advanceTimersByTimeAsync(RETRY_MS);
      expect([streams.length, page.fetchCount]).toEqual([count + 1, count]);
    }
  });

  it('does nothing after a connection error if the browser reconnects', async () => {
    const { watch, streams, page, countOpenStreams } = createWatch();
    watch.start(0);
    await jest.advanceTimersByTimeAsync(0);
    streams[0]!.emitError(false);
    await jest.advanceTimersByTimeAsync(RETRY_MS);
    expect([streams.length, countOpenStreams(), page.fetchCount]).toEqual([1, 1, 0]);
  });

  it.each([
    { expiresInMs: 60_000, afterMs: 60_000 + EXPIRY_MARGIN_MS, fetches: 1 },
    { expiresInMs: 60_000, afterMs: 60_000 + EXPIRY_MARGIN_MS - 1, fetches: 0 },
    // An expiry in the past is ignored.
    { expiresInMs: 1 - EXPIRY_MARGIN_MS, afterMs: 1, fetches: 1 },
    { expiresInMs: -EXPIRY_MARGIN_MS, afterMs: 1, fetches: 0 },
    // An expiry beyond the limit for timers is ignored.
    { expiresInMs: MAX_TIMER_MS - EXPIRY_MARGIN_MS - 1, afterMs: MAX_TIMER_MS, fetches: 1 },
    { expiresInMs: MAX_TIMER_MS - EXPIRY_MARGIN_MS, afterMs: MAX_TIMER_MS, fetches: 0 },
  ])(
    'fetches the state of a session that expires in $expiresInMs ms $fetches times within $afterMs ms',
    async ({ expiresInMs, afterMs, fetches }) => {
      const { watch, page } = createWatch();
      // Uses the time of the server, so the clock of the device has no effect.
      const now = new Date('2041-01-01T00:00:00.000Z');
      watch.fetchAtExpiry(new Date(now.getTime() + expiresInMs).toISOString(), now);
      await jest.advanceTimersByTimeAsync(afterMs);
      expect(page.fetchCount).toBe(fetches);
    },
  );
});
