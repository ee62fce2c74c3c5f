/** The receipt: announces the result, shows the brand of the card, and redirects to the shop automatically. */
import { messages } from '../messages.js';
import { byId } from './document-parts.js';
import { sessionId, storageIfAllowed } from './page-document.js';

const RETURN_AFTER_SECONDS = 5;

const BRAND_KEY = `svc-pay/${sessionId}/brand`;

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

export function startRedirectCountdown(): void {
  byId('outcome-heading').focus();
  const link = document.getElementById('return-link') as HTMLAnchorElement | null;
  // The page of a phone that scanned the code has no link, because the page on the other device redirects to the shop.
  if (!link?.getAttribute('href')) return;
  const [notice, seconds, stay] = [byId('returning'), byId('returning-seconds'), byId('stay')];
  notice.textContent = messages.returning;
  let secondsLeft = RETURN_AFTER_SECONDS;
  const countDown = (): void => {
    seconds.textContent = `(${secondsLeft})`;
    // `replace`, because the back button must not return to a page that redirects again.
    if (secondsLeft-- <= 0) location.replace(link.href);
  };
  countDown();
  const timer = setInterval(countDown, 1000);
  stay.hidden = false;
  stay.addEventListener('click', () => {
    clearInterval(timer);
    for (const element of [notice, seconds]) element.textContent = '';
    stay.hidden = true;
    byId('outcome-heading').focus();
  });
}
