/**
 * The payment page's script. The server renders every state; this makes the form usable, encrypts the card where it
 * was typed, and then asks until the server has something else to show. It never decides how a payment ended.
 */
import { formatTime } from '../src/languages/format-amount.js';
import { AmountFields } from './amounts/amount-fields.js';
import { CardForm } from './card-form/card-form.js';
import { byId } from './views/document-parts.js';
import { ExpiryWarning } from './views/expiry-warning.js';
import { messages } from './messages.js';
import { data, now, reload, shown } from './views/page-document.js';
import { isChanged, LATE_AFTER_MS } from './payment-flow/payment-flow.js';
import { PressOfPay } from './press-of-pay.js';
import { sayLate } from './views/processing-view.js';
import { followReturn, showBrand } from './views/receipt.js';
import { idleWatch, pollerFor } from './session-watches.js';
import { watchTill } from './till-watch.js';

/** What was said last: nothing can come after it, so a document that says it needs no other in its place. */
const FINAL: readonly string[] = ['succeeded', 'already-paid', 'refused', 'expired', 'cancelled'];

// Coming back with the browser's button shows a document from memory, with a state of long ago.
window.addEventListener('pageshow', (event) => {
  if (event.persisted && !FINAL.includes(shown.state)) reload();
});

function startForm(): void {
  byId('script-late').hidden = true;
  const cardForm = new CardForm(now, messages);
  if (typeof crypto === 'undefined' || !crypto.subtle) {
    cardForm.showMessage(messages.formErrors.insecure);
    return;
  }
  const watch = idleWatch((state) => {
    expiry.takeUp(state.expiresAt);
    press.onNews(state);
  });
  const expiry = new ExpiryWarning(() => watch.lookAtExpiry(data['expiresAt'] ?? '', now()));
  const amounts = data['amount'] === undefined ? undefined : new AmountFields();
  const press = new PressOfPay(cardForm, watch, amounts);
  cardForm.start(
    (texts) => void press.pay(texts),
    () => amounts?.check() ?? true,
  );
  performance.mark('form-usable');
  if (press.wasInterrupted) press.findOut();
  else {
    document.getElementById('decline')?.focus();
    watch.start();
  }
  askBeforeAnotherLanguage(cardForm);
  window.addEventListener('pagehide', () => cardForm.clear());
}

/** It is loaded with an empty form: what was typed is kept nowhere, so it cannot be taken along. */
function askBeforeAnotherLanguage(cardForm: CardForm): void {
  byId('languages').addEventListener('click', (event) => {
    const isLink = event.target instanceof Element && event.target.closest('a') !== null;
    if (isLink && cardForm.isTyped && !confirm(messages.emptiesForm)) event.preventDefault();
  });
}

/** A payment was already running when the page was loaded, or its payer is with the bank. */
function startWaiting(): void {
  pollerFor((polled) => {
    if (isChanged(polled, shown)) reload();
  }).start();
}

function showLocalTimes(): void {
  for (const time of document.querySelectorAll<HTMLTimeElement>('time.local-time'))
    time.textContent = formatTime(time.dateTime, messages.format);
}

showLocalTimes();
showBrand();
switch (shown.state) {
  case 'open':
  case 'declined':
    startForm();
    break;
  case 'processing':
    setTimeout(sayLate, LATE_AFTER_MS);
    startWaiting();
    break;
  case 'verification':
    startWaiting();
    break;
  case 'till':
    watchTill(reload);
    break;
  case 'succeeded':
    followReturn();
    break;
  case 'already-paid':
    byId('outcome-heading').focus();
}
