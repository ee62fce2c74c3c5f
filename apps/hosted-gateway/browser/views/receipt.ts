/** The receipt: announces the result, shows the brand of the card, and redirects to the shop automatically. */
import { messages } from '../messages.js';
import { byId } from './document-parts.js';
import { sessionId, storageIfAllowed } from './page-document.js';

/** WCAG 2.2.1: a reader has at least 20 s to stop the redirect. */
const RETURN_AFTER_SECONDS = 20;

const BRAND_KEY = `svc-pay/${sessionId}/brand`;

/** The result of the receipt by e-mail. Absent if the payer has not sent it a moment ago. */
const findMailResult = (): HTMLElement | null => document.getElementById('receipt-result');

/** Lets screen readers read the newest result. */
export function focusOutcome(): void {
  (findMailResult() ?? byId('outcome-heading')).focus();
}

/** Stores the card brand and the last four digits before the card is sent, so that the receipt can show the brand. */
export function storeBrand(brand: string, digits: string): void {
  try {
    storageIfAllowed()?.setItem(BRAND_KEY, `${brand} **** ${digits.slice(-4)}`);
  } catch {
    // The receipt then shows no brand.
  }
}

/** Shows the brand beside the card number if this browser paid with that card. */
export function showBrand(): void {
  const stored = storageIfAllowed()?.getItem(BRAND_KEY);
  for (const element of document.querySelectorAll('.card-brand')) {
    const label = element.nextElementSibling?.textContent ?? '';
    if (label !== '' && stored?.endsWith(` ${label}`)) element.textContent = stored.slice(0, -label.length - 1);
  }
}

/** Shows the button that prints the receipt. It is hidden without a script, because it would do nothing. */
export function showPrintButton(): void {
  const button = document.getElementById('print');
  if (!button) return;
  button.hidden = false;
  button.addEventListener('click', () => print());
}

export function startRedirectCountdown(): void {
  focusOutcome();
  const link = document.getElementById('return-link') as HTMLAnchorElement | null;
  // The page of a phone that scanned the code has no link, because the page on the other device redirects to the shop.
  // A payer who has sent the receipt reads its result, and perhaps sends it again. A notice about money that was refunded is
  // shown by this page alone.
  if (!link?.getAttribute('href') || findMailResult() || document.querySelector('.methods > .notice.news')) return;
  const [notice, seconds, stay] = [byId('returning'), byId('returning-seconds'), byId('stay')];
  notice.textContent = messages.returning;
  let secondsLeft = RETURN_AFTER_SECONDS;
  const countDown = (): void => {
    seconds.textContent = `(${secondsLeft} s)`;
    // `replace`, because the back button must not return to a page that redirects again.
    if (secondsLeft-- <= 0) location.replace(link.href);
  };
  countDown();
  const timer = setInterval(countDown, 1000);
  const stopCountdown = (): void => {
    clearInterval(timer);
    for (const element of [notice, seconds]) element.textContent = '';
    stay.hidden = true;
  };
  stay.hidden = false;
  stay.addEventListener('click', () => {
    stopCountdown();
    byId('outcome-heading').focus();
  });
  // A payer who types an address must not be taken away. The notice does not disappear before the form has opened: the
  // click would miss the form.
  document.getElementById('receipt-mail')?.addEventListener('toggle', stopCountdown);
  // A payer who prints the receipt wants to keep it, also with the menu of the browser.
  window.addEventListener('beforeprint', stopCountdown);
}
