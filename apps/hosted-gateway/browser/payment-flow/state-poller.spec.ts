import type { SessionState } from './payment-flow.js';
import { StatePoller } from './state-poller.js';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

interface Stream {
  readonly tell: (state: SessionState) => void;
  readonly breakOff: () => void;
  isOpen: boolean;
}

function pollerWith(answers: (SessionState | undefined)[]) {
  const seen: (string | undefined)[] = [];
  const streams: Stream[] = [];
  let asked = 0;
  const poller = new StatePoller(
    async () => answers[asked++],
    (state) => seen.push(state.state),
    () => seen.push(undefined),
    (tell, breakOff) => {
      const stream = { tell, breakOff, isOpen: true };
      streams.push(stream);
      return () => (stream.isOpen = false);
    },
  );
  return { poller, seen, streams, asked: () => asked };
}
const processing = { state: 'processing' };

describe('StatePoller', () => {
  it('polls at growing intervals until it is stopped', async () => {
    const { poller, seen, asked } = pollerWith(Array.from({ length: 100 }, () => processing));
    poller.start();
    await jest.advanceTimersByTimeAsync(249);
    expect(asked()).toBe(0);
    await jest.advanceTimersByTimeAsync(1);
    expect(asked()).toBe(1);
    await jest.advanceTimersByTimeAsync(60_000);
    const afterAMinute = asked();
    expect(afterAMinute).toBeGreaterThan(30);
    expect(afterAMinute).toBeLessThan(40);
    poller.stop();
    await jest.advanceTimersByTimeAsync(60_000);
    expect(asked()).toBe(afterAMinute);
    expect(seen).toHaveLength(afterAMinute);
  });

  it('keeps polling after failures, and reports them', async () => {
    const { poller, seen } = pollerWith([undefined, undefined, processing]);
    poller.start();
    await jest.advanceTimersByTimeAsync(250 + 350 + 490);
    expect(seen).toEqual([undefined, undefined, 'processing']);
    poller.stop();
  });

  it('polls immediately on request, and aborts a pending poll', async () => {
    const signals: AbortSignal[] = [];
    const seen: string[] = [];
    const poller = new StatePoller(
      (signal) => {
        signals.push(signal);
        return signals.length === 1 ? new Promise(() => undefined) : Promise.resolve(processing);
      },
      (state) => seen.push(state.state),
      () => seen.push('silence'),
      () => () => undefined,
    );
    poller.start();
    await jest.advanceTimersByTimeAsync(5000);
    expect(signals).toHaveLength(1);
    poller.pollNow();
    await jest.advanceTimersByTimeAsync(0);
    expect(signals.map((signal) => signal.aborted)).toEqual([true, false]);
    expect(seen).toEqual(['processing']);
    poller.stop();
  });

  it('polls only after a silence while the stream works, and immediately when it breaks', async () => {
    const { poller, seen, streams, asked } = pollerWith(Array.from({ length: 100 }, () => processing));
    poller.start();
    await jest.advanceTimersByTimeAsync(250);
    const [{ tell, breakOff }] = streams as [Stream];
    tell(processing);
    await jest.advanceTimersByTimeAsync(11_000);
    tell(processing);
    await jest.advanceTimersByTimeAsync(11_000);
    expect([asked(), seen.length]).toEqual([1, 3]);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(asked()).toBe(2);
    breakOff();
    await jest.advanceTimersByTimeAsync(0);
    expect(asked()).toBe(3);
    // It keeps polling, however often the connection fails.
    breakOff();
    await jest.advanceTimersByTimeAsync(350 + 490);
    expect([asked(), streams.length]).toEqual([5, 1]);
    poller.stop();
    tell(processing);
    expect(seen).toHaveLength(7);
  });

  it('has a stream for each payment: the previous one is closed, and its later states are ignored', async () => {
    const { poller, seen, streams, asked } = pollerWith(Array.from({ length: 100 }, () => processing));
    const open = () => streams.map(({ isOpen }) => isOpen);
    poller.start();
    expect(open()).toEqual([]);
    await jest.advanceTimersByTimeAsync(250);
    streams[0]!.tell(processing);
    expect(open()).toEqual([true]);
    poller.stop();
    expect(open()).toEqual([false]);

    poller.start();
    await jest.advanceTimersByTimeAsync(249);
    streams[0]!.tell({ state: 'declined' });
    streams[0]!.breakOff();
    await jest.advanceTimersByTimeAsync(0);
    expect([seen, asked()]).toEqual([['processing', 'processing'], 1]);
    // The stream has sent nothing about this payment yet, so the next poll is soon.
    await jest.advanceTimersByTimeAsync(1 + 350);
    expect([asked(), open()]).toEqual([3, [false, true]]);
    streams[1]!.tell(processing);
    streams[0]!.breakOff();
    await jest.advanceTimersByTimeAsync(1_000);
    expect(asked()).toBe(3);
    poller.stop();
  });

  it('keeps polling when polls fail, although the stream seems open', async () => {
    const { poller, streams, asked } = pollerWith([processing, undefined, undefined]);
    poller.start();
    await jest.advanceTimersByTimeAsync(250);
    streams[0]!.tell(processing);
    await jest.advanceTimersByTimeAsync(12_000);
    expect(asked()).toBe(2);
    await jest.advanceTimersByTimeAsync(2_000);
    expect(asked()).toBeGreaterThan(2);
    poller.stop();
  });

  it('reports nothing after it was stopped, and polls nothing before it was started', async () => {
    const { poller, seen, asked } = pollerWith([processing]);
    poller.pollNow();
    await jest.advanceTimersByTimeAsync(1000);
    expect(asked()).toBe(0);
    poller.start();
    jest.advanceTimersByTime(250);
    poller.stop();
    await jest.advanceTimersByTimeAsync(1000);
    expect(seen).toEqual([]);
  });
});
