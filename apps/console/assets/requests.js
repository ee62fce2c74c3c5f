// Copies the link of a payment request, passes it to an app of the phone, and prints its page. Without this script all buttons
// stay hidden.
{
  const show = (selector) => document.querySelectorAll(selector).forEach((button) => button.removeAttribute('hidden'));
  show('[data-print]');
  if (navigator.clipboard !== undefined) show('[data-copy]');
  if (navigator.share !== undefined) show('[data-share]');
  document.addEventListener('click', async ({ target }) => {
    if (target.closest?.('[data-print]')) window.print();
    const shared = target.closest?.('[data-share]');
    // A person who closes the list of apps rejects the promise.
    if (shared) await navigator.share({ url: shared.dataset.share }).catch(() => undefined);
    const button = target.closest?.('[data-copy]');
    if (!button) return;
    await navigator.clipboard.writeText(button.dataset.copy);
    document.querySelector('[data-copy-result]').textContent = button.dataset.done;
  });
}
