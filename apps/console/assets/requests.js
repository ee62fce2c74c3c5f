// Copies the link of a payment request, and prints its page. Without this script both buttons stay hidden.
{
  const show = (selector) => document.querySelectorAll(selector).forEach((button) => button.removeAttribute('hidden'));
  show('[data-print]');
  if (navigator.clipboard !== undefined) show('[data-copy]');
  document.addEventListener('click', async ({ target }) => {
    if (target.closest?.('[data-print]')) window.print();
    const button = target.closest?.('[data-copy]');
    if (!button) return;
    await navigator.clipboard.writeText(button.dataset.copy);
    document.querySelector('[data-copy-result]').textContent = button.dataset.done;
  });
}
