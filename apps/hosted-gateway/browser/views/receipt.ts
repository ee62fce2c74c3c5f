/** The receipt: is read out, names the brand of the card, and leads back to the shop by itself. */
import { byId } from './document-parts.js';
import { messages } from '../messages.js';
import { sessionId, storageIfAllowed } from './page-document.js';

const RETURN_AFTER_SECONDS = 5;

const BRAND_KEY = `svc-pay/${sessionId}/brand`;

/** Before the card is sent: which brand the digits are of, and nothing of them but what a receipt shows anyway. */
export function rememberBrand(brand: string, digits: string): void {
  try {
    storageIfAllowed()?.setItem(BRAND_KEY, `${brand} **** ${digits.slice(-4)}`);
  } catch {
    // A receipt without a brand is one, too.
  }
}

/** Only beside the card that was paid with here: of another one the service knows the last digits alone. */
export function showBrand(): void {
  const known = storageIfAllowed()?.getItem(BRAND_KEY);
  for (const place of document.querySelectorAll('.card-brand')) {
    const label = place.nextElementSibling?.textContent ?? '';
    if (label !== '' && known?.endsWith(` ${label}`)) place.textContent = known.slice(0, -label.length - 1);
  }
}

export function followReturn(): void {
  byId('outcome-heading').focus();
  const link = document.getElementById('return-link') as HTMLAnchorElement | null;
  // On a phone that scanned the code there is none: the shop's own page goes on.
  if (!link?.getAttribute('href')) return;
  const [said, seconds, stay] = [byId('returning'), byId('returning-seconds'), byId('stay')];
  said.textContent = messages.returning;
  let left = RETURN_AFTER_SECONDS;
  const count = (): void => {
    seconds.textContent = `(${left})`;
    // `replace`: the merchant's back button must not lead to a page that leads forward again.
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
