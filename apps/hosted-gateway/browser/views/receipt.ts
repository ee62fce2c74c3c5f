/** The receipt: announces the result, shows the brand of the card, and redirects to the shop automatically. */
import { messages } from '../messages.js';
import { byId } from './document-parts.js';
import { sessionId, storageIfAllowed } from './page-document.js';

const RETURN_AFTER_SECONDS = 5;

const BRAND_KEY = `svc-pay/${sessionId}/brand`;

/** Stores the brand before the card is sent, with no more digits than a receipt shows anyway. */
export function rememberBrand(brand: string, digits: string): void {
  try {
    storageIfAllowed()?.setItem(BRAND_KEY, `${brand} **** ${digits.slice(-4)}`);
  } catch {
    // The receipt then shows no brand.
  }
}

/** Shows the brand only beside the card that was used in this browser: of other cards only the last digits are known. */
export function showBrand(): void {
  const known = storageIfAllowed()?.getItem(BRAND_KEY);
  for (const place of document.querySelectorAll('.card-brand')) {
    const label = place.nextElementSibling?.textContent ?? '';
    if (label !== '' && known?.endsWith(` ${label}`)) place.textContent = known.slice(0, -label.length - 1);
  }
}

export function startReturn(): void {
  byId('outcome-heading').focus();
  const link = document.getElementById('return-link') as HTMLAnchorElement | null;
  // No link on a phone that scanned the code: the page on the shop's device redirects.
  if (!link?.getAttribute('href')) return;
  const [said, seconds, stay] = [byId('returning'), byId('returning-seconds'), byId('stay')];
  said.textContent = messages.returning;
  let left = RETURN_AFTER_SECONDS;
  const count = (): void => {
    seconds.textContent = `(${left})`;
    // `replace`, because the back button must not return to a page that redirects again.
    if (left-- <= 0) location.replace(link.href);
  };
  count();
  const timer = setInterval(count, 1000);
  stay.hidden = false;
  stay.addEventListener('click', () => {
    clearInterval(timer);
    for (const part of [said, seconds]) part.textContent = '';
    stay.hidden = true;
    byId('outcome-heading').focus();
  });
}
