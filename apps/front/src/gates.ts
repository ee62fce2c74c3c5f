/** Longest that a request waits at a closed gate: a restart takes a few seconds. */
const CLOSED_MS_MAX = 20_000;
/** Longest that closing waits for requests under way; a stream that never ends holds up no restart. */
const UNDER_WAY_MS_MAX = 10_000;

interface Gate {
  underWay: number;
  /** Called when the last request under way is done. */
  idle: () => void;
  closed?: { readonly opened: Promise<void>; readonly open: () => void };
}

/**
 * One gate for each app. Whoever restarts an app closes its gate first: requests wait here, and those under way are
 * finished. So an app that stops is sent nothing any more, and no request meets a connection that is just closing,
 * of which nobody could say whether the request was executed.
 */
export class Gates {
  private readonly gates = new Map<string, Gate>();

  /** Resolves when the app's gate is open, or after a bounded time. Call the result when the request is done. */
  async enter(app: string): Promise<() => void> {
    const gate = this.gateOf(app);
    if (gate.closed) await within(CLOSED_MS_MAX, gate.closed.opened);
    gate.underWay++;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      if (--gate.underWay === 0) gate.idle();
    };
  }

  /** Resolves when no request is under way any more, or after a bounded time. */
  async close(app: string): Promise<void> {
    const gate = this.gateOf(app);
    if (!gate.closed) {
      let open = (): void => undefined;
      const opened = new Promise<void>((resolve) => (open = resolve));
      gate.closed = { opened, open };
    }
    if (gate.underWay > 0) await within(UNDER_WAY_MS_MAX, new Promise<void>((resolve) => (gate.idle = resolve)));
  }

  open(app: string): void {
    const gate = this.gateOf(app);
    gate.closed?.open();
    delete gate.closed;
  }

  private gateOf(app: string): Gate {
    const known = this.gates.get(app);
    if (known) return known;
    const gate: Gate = { underWay: 0, idle: () => undefined };
    this.gates.set(app, gate);
    return gate;
  }
}

async function within(milliseconds: number, promise: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => (timer = setTimeout(resolve, milliseconds)));
  await Promise.race([promise, over]);
  clearTimeout(timer);
}
