/**
 * Fetches the page of an unpaid order again, and replaces the element `order-progress` if it has changed. Unlike a
 * reload, the replacement keeps the focus and the scroll position.
 */
const section = document.querySelector('section.order[data-refresh-seconds]');

async function refresh() {
  // A hidden tab refreshes when it becomes visible again.
  if (document.visibilityState === 'hidden') return;
  const response = await fetch(location.href, { cache: 'no-store', credentials: 'same-origin' });
  if (!response.ok) return;
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const [current, updated] = [document, page].map((html) => html.getElementById('order-progress'));
  if (!current || !updated || current.innerHTML === updated.innerHTML) return;
  // Replaces only the children, so that screen readers announce a change of the live region.
  current.replaceChildren(...updated.childNodes);
  document.title = page.title;
  const nextInterval = page.querySelector('section.order')?.dataset.refreshSeconds;
  if (nextInterval === undefined) delete section.dataset.refreshSeconds;
  else section.dataset.refreshSeconds = nextInterval;
}

function scheduleRefresh() {
  const seconds = Number(section.dataset.refreshSeconds);
  if (seconds > 0)
    setTimeout(
      () =>
        void refresh()
          .catch(() => undefined)
          .finally(scheduleRefresh),
      seconds * 1000,
    );
}

if (section) {
  scheduleRefresh();
  document.addEventListener('visibilitychange', () => void refresh().catch(() => undefined));
}
