/** How often a page looks whether its till has something to pay. */
const LOOK_MS = 3_000;
const ANSWER_MS_MAX = 8_000;

/**
 * A printed code was opened before the cashier was done: looks again until its address leads to an invoice, and goes there. Not
 * while nobody sees the page.
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
