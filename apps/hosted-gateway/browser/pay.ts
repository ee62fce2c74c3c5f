/**
 * The payment page's script. The server renders every state. The script enables the form, encrypts the card in the
 * browser, and polls until the server has a new state to show. It never decides the result of a payment.
 */
import { formatTime } from '../src/languages/format-amount.js';
import { AmountFields } from './amounts/amount-fields.js';
import { CardForm } from './card-form/card-form.js';
import { messages } from './messages.js';
import { PaymentController } from './payment-controller.js';
import { isChanged, LATE_AFTER_MS } from './payment-flow/payment-flow.js';
import { watchTill } from './till-watch.js';
import { byId } from './views/document-parts.js';
import { ExpiryWarning } from './views/expiry-warning.js';
import { now, pageData, reload, shownState } from './views/page-document.js';
import { showLateNotice } from './views/processing-view.js';
import { showBrand, startRedirectCountdown } from './views/receipt.js';
import { createIdleWatch, createPoller } from './watch-session.js';

/** Final states. A document in one of these states never needs a reload. */
const FINAL_STATES: readonly string[] = ['succeeded', 'already-paid', 'refused', 'expired', 'cancelled'];

// The browser's back button may show a cached document with an outdated state.
window.addEventListener('pageshow', (event) => {
  if (event.persisted && !FINAL_STATES.includes(shownState.state)) reload();
});

function startForm(): void {
  byId('script-late').hidden = true;
  const cardForm = new CardForm(now, messages);
  if (typeof crypto === 'undefined' || !crypto.subtle) {
    cardForm.showMessage(messages.formErrors.insecure);
    return;
  }
  const watch = createIdleWatch((state) => {
    expiry.updateExpiry(state.expiresAt);
    payment.onIdleState(state);
  });
  const expiry = new ExpiryWarning(() => watch.fetchAtExpiry(pageData['expiresAt'] ?? '', now()));
  const amounts = pageData['amount'] === undefined ? undefined : new AmountFields();
  const payment = new PaymentController(cardForm, watch, amounts);
  cardForm.start(
    (texts) => void payment.pay(texts),
    () => amounts?.check() ?? true,
  );
  performance.mark('form-usable');
  if (payment.wasInterrupted) payment.resolveInterrupted();
  else {
    document.getElementById('decline')?.focus();
    watch.start();
  }
  confirmLanguageChange(cardForm);
  window.addEventListener('pagehide', () => cardForm.clear());
}

/** Lets the payer confirm a change of the language, because the page in the other language has an empty form. */
function confirmLanguageChange(cardForm: CardForm): void {
  byId('languages').addEventListener('click', (event) => {
    const isLink = event.target instanceof Element && event.target.closest('a') !== null;
    if (isLink && cardForm.isTyped && !confirm(messages.confirmLanguageChange)) event.preventDefault();
  });
}

/** Polls, and reloads the page when the state changes. For a page that was loaded during a payment or a verification. */
function startPolling(): void {
  createPoller((polled) => {
    if (isChanged(polled, shownState)) reload();
  }).start();
}

function showLocalTimes(): void {
  for (const time of document.querySelectorAll<HTMLTimeElement>('time.local-time'))
    time.textContent = formatTime(time.dateTime, messages.format);
}

showLocalTimes();
showBrand();
switch (shownState.state) {
  case 'open':
  case 'declined':
    startForm();
    break;
  case 'processing':
    setTimeout(showLateNotice, LATE_AFTER_MS);
    startPolling();
    break;
  case 'verification':
    startPolling();
    break;
  case 'till':
    watchTill(reload);
    break;
  case 'succeeded':
    startRedirectCountdown();
    break;
  case 'already-paid':
    byId('outcome-heading').focus();
}
