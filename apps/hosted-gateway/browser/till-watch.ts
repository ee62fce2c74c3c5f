/** Interval of the check for an open invoice at the till. */
const CHECK_INTERVAL_MS = 3_000;
const RESPONSE_TIMEOUT_MS = 8_000;

/**
 * Runs on the page for the static code of a till that has no open invoice. Checks repeatedly whether the address of the
 * page redirects to an invoice, and then calls `followRedirect`. Does not check while the page is hidden.
 */
export function watchTill(followRedirect: () => void): void {
  const check = async (): Promise<void> => {
    if (document.visibilityState === 'visible' && (await isRedirected())) return followRedirect();
    setTimeout(() => void check(), CHECK_INTERVAL_MS);
  };
  setTimeout(() => void check(), CHECK_INTERVAL_MS);
}

async function isRedirected(): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(RESPONSE_TIMEOUT_MS);
    const { type } = await fetch(location.href, { redirect: 'manual', cache: 'no-store', signal });
    return type === 'opaqueredirect';
  } catch {
    return false;
  }
}
