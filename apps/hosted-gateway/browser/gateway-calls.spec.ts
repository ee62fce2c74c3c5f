import { streamStates } from './gateway-calls.js';
import type { SessionState } from './payment-flow.js';

type Listener = (event: { data?: string }) => void;

/** The browser's, as far as it is used: a test says what arrives. */
class ScriptedEventSource {
  static readonly CLOSED = 2;
  static opened: ScriptedEventSource[] = [];
  readyState = 1;
  private readonly listeners = new Map<string, Listener>();

  constructor(readonly url: string) {
    ScriptedEventSource.opened.push(this);
  }

  addEventListener(type: string, listener: Listener): void {
    this.listeners.set(type, listener);
  }

  close(): void {
    this.readyState = ScriptedEventSource.CLOSED;
  }

  emit(type: string, data?: string): void {
    this.listeners.get(type)?.(data === undefined ? {} : { data });
  }
}

beforeEach(() => {
  ScriptedEventSource.opened = [];
  Object.assign(globalThis, { EventSource: ScriptedEventSource });
});
afterEach(() => Reflect.deleteProperty(globalThis, 'EventSource'));

function streamed() {
  const states: SessionState[] = [];
  const breaks: boolean[] = [];
  const close = streamStates(
    '/pay/1',
    (state) => states.push(state),
    (isOver) => breaks.push(isOver),
  );
  return { states, breaks, close, source: ScriptedEventSource.opened[0] };
}

describe('streamStates', () => {
  it('passes on every state, and nothing that is none', () => {
    const { states, source } = streamed();
    expect(source?.url).toBe('/pay/1/events');
    for (const data of ['{"state":"open","version":1}', '{"state":"processing"}', '{"version":3}', 'null', '{'])
      source?.emit('state', data);
    expect(states).toEqual([
      { state: 'open', version: '1' },
      { state: 'processing', version: undefined },
    ]);
  });

  it('says whether the browser will connect again', () => {
    const { breaks, close, source } = streamed();
    source?.emit('error');
    close();
    source?.emit('error');
    expect(breaks).toEqual([false, true]);
  });

  it('is over at once in a browser without streams', () => {
    Reflect.deleteProperty(globalThis, 'EventSource');
    const { breaks, source } = streamed();
    expect([breaks, source]).toEqual([[true], undefined]);
  });
});
