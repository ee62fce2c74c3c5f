/** Interval of the check for an open invoice at the till. */
const LOOK_MS = 3_000;
const ANSWER_MS_MAX = 8_000;

/**
 * For a static code without an open invoice: checks until its address redirects to an invoice, and follows the redirect. Not
 * while the page is hidden.
 */
export function watchTill(go: () => void): void {
  const look = async (): Promise<void> => {
    if (document.visibilityState === 'visible' && (await leadsOn())) return go();
    setTimeout(() => void look(), LOOK_MS);
  };
  setTimeout(() => void look(), LOOK_MS);
}

async function leadsOn(): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(ANSWER_MS_MAX);
    const { type } = await fetch(location.href, { redirect: 'manual', cache: 'no-store', signal });
    return type === 'opaqueredirect';
  } catch {
    return false;
  }
}
