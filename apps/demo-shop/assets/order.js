/**
 * An order that is not paid: asks for its page again until it says something else, and puts that in its place. Focus and
 * position stay where they are, unlike with a page that loads itself again.
 */
const section = document.querySelector('section.order[data-refresh-seconds]');

async function look() {
  // A tab that nobody looks at asks when it is looked at again.
  if (document.visibilityState === 'hidden') return;
  const answer = await fetch(location.href, { cache: 'no-store', credentials: 'same-origin' });
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  const [shown, told] = [document, page].map((each) => each.getElementById('order-progress'));
  if (!shown || !told || shown.innerHTML === told.innerHTML) return;
  // The same element, so that a screen reader says what is new in it.
  shown.replaceChildren(...told.childNodes);
  document.title = page.title;
  const next = page.querySelector('section.order')?.dataset.refreshSeconds;
  if (next === undefined) delete section.dataset.refreshSeconds;
  else section.dataset.refreshSeconds = next;
}

function plan() {
  const seconds = Number(section.dataset.refreshSeconds);
  if (seconds > 0)
    setTimeout(
      () =>
        void look()
          .catch(() => undefined)
          .finally(plan),
      seconds * 1000,
    );
}

if (section) {
  plan();
  document.addEventListener('visibilitychange', () => void look().catch(() => undefined));
}
