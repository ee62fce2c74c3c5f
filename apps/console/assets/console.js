// Shows lists, and the history of a payment, again when they have changed. Every page works without this script.
const list = document.querySelector('[data-live]');
if (list !== null && typeof EventSource === 'function') {
  const changes = new EventSource(list.getAttribute('data-live'));
  let shown = list;
  changes.addEventListener('list', ({ data }) => {
    const next = new DOMParser().parseFromString(data, 'text/html').body.firstElementChild;
    if (next === null) return;
    // What a person has opened stays open, and the keyboard stays where it is.
    for (const { id } of shown.querySelectorAll('details[open][id]'))
      next.querySelector(`[id="${id}"]`)?.setAttribute('open', '');
    if (next.outerHTML === shown.outerHTML) return;
    const focused = shown.contains(document.activeElement) ? document.activeElement : null;
    const target = focused && focused.id !== '' ? next.querySelector(`[id="${focused.id}"]`) : null;
    // A list in which a person moves with the keyboard is not replaced, unless the same element is in the next one.
    if (focused !== null && target === null) return;
    shown.replaceWith(next);
    target?.focus({ preventScroll: true });
    shown = next;
  });
  addEventListener('pagehide', () => changes.close());
}
// A form that does something once is sent once, also after a double click. The back button brings it back.
addEventListener('submit', (event) => {
  if (!(event.target instanceof HTMLFormElement) || !event.target.hasAttribute('data-once')) return;
  if (event.target.dataset.once === 'sent') event.preventDefault();
  event.target.dataset.once = 'sent';
});
addEventListener('pageshow', () => {
  for (const form of document.querySelectorAll('form[data-once]')) form.dataset.once = '';
});
