/** A point at which a handler waits until the test calls `open`. */
export interface Gate {
  /** The handler calls this function. It resolves after `open`. */
  readonly pass: () => Promise<void>;
  readonly open: () => void;
  /** Resolves when a handler has called `pass`. */
  readonly reached: Promise<void>;
}

const gates = new Set<Gate>();

export function newGate(): Gate {
  let open = (): void => undefined;
  let arrive = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  const reached = new Promise<void>((resolve) => (arrive = resolve));
  const gate = { pass: () => (arrive(), opened), open: () => open(), reached };
  gates.add(gate);
  return gate;
}

/** Opens every gate of the test, because a failed test has not opened its gates, and a stop waits for the handlers. */
export function openAllGates(): void {
  for (const gate of gates) gate.open();
  gates.clear();
}
