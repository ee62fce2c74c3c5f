/**
 * Settles as the promise does, or after this time as `onTimeout` does, which returns another result or throws. The work of
 * the promise continues, but its result is ignored.
 */
export async function withDeadline<T, U = never>(
  promise: Promise<T>,
  milliseconds: number,
  onTimeout: () => U,
): Promise<T | U> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, milliseconds))).then(onTimeout);
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
