import { EXPIRY_MARGIN_MS, IdleWatch, MAX_TIMER_MS, RETRY_MS, WATCH_AFTER_MS } from './idle-watch.js';
import type { SessionState } from './payment-flow.js';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

interface Stream {
  readonly tell: (state: SessionState) => void;
  readonly breakOff: (isOver: boolean) => void;
  isOpen: boolean;
}

function watched() {
  const streams: Stream[] = [];
  const seen: string[] = [];
  const page = { isVisible: true, asked: 0, answer: Promise.resolve<SessionState>({ state: 'asked' }) };
  const watch = new IdleWatch({
    isVisible: () => page.isVisible,
    fetchState: () => {
      page.asked++;
      return page.answer;
    },
    stream: (tell, breakOff) => {
      const stream: Stream = { tell, breakOff, isOpen: true };
      streams.push(stream);
      return () => (stream.isOpen = false);
    },
    onState: ({ state }) => seen.push(state),
  });
  return { watch, streams, seen, page, open: () => streams.filter(({ isOpen }) => isOpen).length };
}

describe('IdleWatch', () => {
  it('opens its stream shortly after the page has loaded, and passes on its states', async () => {
    const { watch, streams, seen, open } = watched();
    watch.start();
    await jest.advanceTimersByTimeAsync(WATCH_AFTER_MS - 1);
    expect(open()).toBe(0);
    await jest.advanceTimersByTimeAsync(1);
    expect(open()).toBe(1);
    streams[0]!.tell({ state: 'processing' });
    expect(seen).toEqual(['processing']);
  });

  it('stops when the payer presses Pay, and restarts when the form is shown again', async () => {
    const { watch, streams, seen, open } = watched();
    watch.start(0);
    await jest.advanceTimersByTimeAsync(0);
    watch.stop();
    streams[0]!.tell({ state: 'succeeded' });
    await jest.advanceTimersByTimeAsync(60_000);
    expect([seen, open()]).toEqual([[], 0]);
    watch.start();
    await jest.advanceTimersByTimeAsync(WATCH_AFTER_MS);
    expect([streams.length, open()]).toEqual([2, 1]);
  });

  it('ignores a response to a request from before Pay was pressed, and uses a later one', async () => {
    const { watch, seen, page } = watched();
    const before = Promise.withResolvers<SessionState>();
    page.answer = before.promise;
    watch.start(0);
    const look = watch.fetchNow();
    watch.stop();
    watch.start(0);
    before.resolve({ state: 'older' });
    await look;
    expect(seen).toEqual([]);
    page.answer = Promise.resolve({ state: 'newer' });
    await watch.fetchNow();
    expect(seen).toEqual(['newer']);
    watch.stop();
    await watch.fetchNow();
    expect(seen).toEqual(['newer']);
  });

  it('has no stream while the tab is hidden, and fetches the state when it becomes visible', async () => {
    const { watch, seen, page, open } = watched();
    watch.start(0);
    await jest.advanceTimersByTimeAsync(0);
    page.isVisible = false;
    watch.visibilityChanged();
    await jest.advanceTimersByTimeAsync(60_000);
    expect([open(), page.asked]).toEqual([0, 0]);
    page.isVisible = true;
    watch.visibilityChanged();
    await jest.advanceTimersByTimeAsync(0);
    expect([open(), seen]).toEqual([1, ['asked']]);
  });

  it('fetches the state if the server rejects the stream, and retries', async () => {
    const { watch, streams, page, open } = watched();
    watch.start(0);
    await jest.advanceTimersByTimeAsync(0);
    for (let time = 1; time <= 3; time++) {
      streams.at(-1)!.breakOff(true);
      expect(open()).toBe(0);
      await jest.advanceTimersByTimeAsync(RETRY_MS);
      expect([streams.length, page.asked]).toEqual([time + 1, time]);
    }
  });

  it('lets the browser reconnect if it can', async () => {
    const { watch, streams, page, open } = watched();
    watch.start(0);
    await jest.advanceTimersByTimeAsync(0);
    streams[0]!.breakOff(false);
    await jest.advanceTimersByTimeAsync(RETRY_MS);
    expect([streams.length, open(), page.asked]).toEqual([1, 1, 0]);
  });

  it.each([
    ['after it has expired', 60_000, 60_000 + EXPIRY_MARGIN_MS, 1],
    ['not before', 60_000, 60_000 + EXPIRY_MARGIN_MS - 1, 0],
    ['a millisecond before it is too late', 1 - EXPIRY_MARGIN_MS, 1, 1],
    ['never where it is too late', -EXPIRY_MARGIN_MS, 1, 0],
    ['at most a day ahead', MAX_TIMER_MS - EXPIRY_MARGIN_MS - 1, MAX_TIMER_MS, 1],
    ['never later than that', MAX_TIMER_MS - EXPIRY_MARGIN_MS, MAX_TIMER_MS, 0],
  ])('fetches the state of a session once, %s', async (_, expiresInMs, afterMs, asked) => {
    const { watch, page } = watched();
    // The clock of the device has no effect.
    const now = new Date('2041-01-01T00:00:00.000Z');
    watch.fetchAtExpiry(new Date(now.getTime() + expiresInMs).toISOString(), now);
    await jest.advanceTimersByTimeAsync(afterMs);
    expect(page.asked).toBe(asked);
  });
});
