/** Interval of the check for an open invoice at the till. */
const CHECK_INTERVAL_MS = 3_000;
const RESPONSE_TIMEOUT_MS = 8_000;

/**
 * For a static code without an open invoice: checks until its address redirects to an invoice, and follows the redirect. Not
 * while the page is hidden.
 */
export function watchTill(go: () => void): void {
  const look = async (): Promise<void> => {
    if (document.visibilityState === 'visible' && (await redirects())) return go();
    setTimeout(() => void look(), CHECK_INTERVAL_MS);
  };
  setTimeout(() => void look(), CHECK_INTERVAL_MS);
}

async function redirects(): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(RESPONSE_TIMEOUT_MS);
    const { type } = await fetch(location.href, { redirect: 'manual', cache: 'no-store', signal });
    return type === 'opaqueredirect';
  } catch {
    return false;
  }
}
