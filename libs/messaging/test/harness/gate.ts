export interface Gate {
  readonly pass: () => Promise<void>;
  readonly open: () => void;
  /** Resolves when a handler waits at it. */
  readonly reached: Promise<void>;
}

/** A gate at which a handler waits until the test opens it. */
export function gate(): Gate {
  let open = (): void => undefined;
  let arrive = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  const reached = new Promise<void>((resolve) => (arrive = resolve));
  return { pass: () => (arrive(), opened), open: () => open(), reached };
}
