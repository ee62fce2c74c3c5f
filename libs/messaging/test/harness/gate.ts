export interface Gate {
  readonly pass: () => Promise<void>;
  readonly open: () => void;
  /** Resolves when somebody waits at it. */
  readonly reached: Promise<void>;
}

/** A door that a handler waits at until the test opens it. */
export function gate(): Gate {
  let open = (): void => undefined;
  let arrive = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  const reached = new Promise<void>((resolve) => (arrive = resolve));
  return { pass: () => (arrive(), opened), open: () => open(), reached };
}
