/** A request waits at most this long at a closed gate: a restart takes a few seconds. */
const MAX_WAIT_MS = 20_000;
/** Closing waits at most this long for requests in flight, so that an endless stream does not block a restart. */
const MAX_DRAIN_MS = 10_000;

interface Gate {
  inFlight: number;
  /** Called when the last request in flight has completed. */
  onIdle: () => void;
  closed?: { readonly opened: Promise<void>; readonly open: () => void };
}

/**
 * One gate for each app, to drain it before a restart. While the gate is closed, new requests wait here and requests in flight
 * complete. Otherwise a request could meet a connection that is closing, and it would be unknown whether the app executed it.
 */
export class RequestGates {
  private readonly gates = new Map<string, Gate>();

  /** Resolves when the app's gate is open, or after a bounded time. Call the result when the request has completed. */
  async enter(app: string): Promise<() => void> {
    const gate = this.gateOf(app);
    if (gate.closed) await waitAtMost(MAX_WAIT_MS, gate.closed.opened);
    gate.inFlight++;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      if (--gate.inFlight === 0) gate.onIdle();
    };
  }

  /** Resolves when no request is in flight, or after a bounded time. */
  async close(app: string): Promise<void> {
    const gate = this.gateOf(app);
    if (!gate.closed) {
      let open = (): void => undefined;
      const opened = new Promise<void>((resolve) => (open = resolve));
      gate.closed = { opened, open };
    }
    if (gate.inFlight > 0) await waitAtMost(MAX_DRAIN_MS, new Promise<void>((resolve) => (gate.onIdle = resolve)));
  }

  open(app: string): void {
    const gate = this.gateOf(app);
    gate.closed?.open();
    delete gate.closed;
  }

  private gateOf(app: string): Gate {
    const known = this.gates.get(app);
    if (known) return known;
    const gate: Gate = { inFlight: 0, onIdle: () => undefined };
    this.gates.set(app, gate);
    return gate;
  }
}

async function waitAtMost(milliseconds: number, promise: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => (timer = setTimeout(resolve, milliseconds)));
  await Promise.race([promise, over]);
  clearTimeout(timer);
}
