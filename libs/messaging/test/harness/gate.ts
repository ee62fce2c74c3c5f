/** A point at which a handler waits until the test calls `open`. */
export interface Gate {
  /** The handler calls this function. It resolves after `open`. */
  readonly pass: () => Promise<void>;
  readonly open: () => void;
  /** Resolves when a handler has called `pass`. */
  readonly reached: Promise<void>;
}

export function newGate(): Gate {
  let open = (): void => undefined;
  let arrive = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  const reached = new Promise<void>((resolve) => (arrive = resolve));
  return { pass: () => (arrive(), opened), open: () => open(), reached };
}
