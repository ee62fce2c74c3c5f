import { HttpClient, type OutboundResponse } from '@svc/outbound';

type OutboundRequest = Parameters<HttpClient['call']>[0];
/** Sends the request, or a changed one. */
type Call = (changed?: OutboundRequest) => Promise<OutboundResponse>;
type Handler = (request: OutboundRequest, call: Call) => Promise<OutboundResponse>;

interface Interception {
  readonly matches: (request: OutboundRequest) => boolean;
  readonly handler: Handler;
}

/** A call of an adapter to its acquirer. */
export interface RecordedCall {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The error of a connection that breaks after the request may have arrived. */
export const connectionReset = (): Error => Object.assign(new Error('The connection broke.'), { code: 'ECONNRESET' });
/** The error of a connection that was never made. */
export const connectionRefused = (): Error => Object.assign(new Error('Nothing listens.'), { code: 'ECONNREFUSED' });

/**
 * Records all calls of the adapters, and lets a test change some of them. A test can end the wait of a caller as its
 * time-out does, so that no test waits for a time-out.
 */
export class ContractNetwork {
  readonly calls: RecordedCall[] = [];
  private interceptions: Interception[] = [];
  private readonly waits = new WeakMap<AbortSignal, AbortController>();
  private readonly spies: { mockRestore(): void }[] = [];

  constructor() {
    const timeout = AbortSignal.timeout.bind(AbortSignal);
    const { waits } = this;
    const timeouts = jest.spyOn(AbortSignal, 'timeout').mockImplementation((milliseconds) => {
      const controller = new AbortController();
      const signal = AbortSignal.any([timeout(milliseconds), controller.signal]);
      waits.set(signal, controller);
      return signal;
    });
    type Original = (this: HttpClient, request: OutboundRequest) => ReturnType<Call>;
    const original: Original = Reflect.get<HttpClient, 'call'>(HttpClient.prototype, 'call');
    const handle = (request: OutboundRequest, call: Call): Promise<OutboundResponse> => this.handle(request, call);
    const calls = jest.spyOn(HttpClient.prototype, 'call').mockImplementation(function (this: HttpClient, request) {
      return handle(request, (changed = request) => original.call(this, changed));
    });
    this.spies.push(timeouts, calls);
  }

  /** Changes the next call that matches. */
  interceptNext(matches: Interception['matches'], handler: Handler): void {
    this.interceptions.push({ matches, handler });
  }

  /** Ends the wait of the caller of this request, as its time-out does. */
  expire({ signal }: Pick<OutboundRequest, 'signal'>): void {
    if (signal) this.waits.get(signal)?.abort();
  }

  /** Forgets the calls and interceptions of the last case. */
  clear(): void {
    this.calls.splice(0);
    this.interceptions = [];
  }

  stop(): void {
    for (const spy of this.spies) spy.mockRestore();
  }

  private handle(request: OutboundRequest, call: Call): Promise<OutboundResponse> {
    const { method, url, headers, body = '' } = request;
    this.calls.push({ method, url, headers, body });
    const found = this.interceptions.find(({ matches }) => matches(request));
    if (!found) return call();
    this.interceptions = this.interceptions.filter((each) => each !== found);
    return found.handler(request, call);
  }
}
