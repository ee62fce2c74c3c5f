/**
 * The payment page's script. The server renders every state. The script solves the challenge of the page, if it has one,
 * enables the form, encrypts the card in the browser, and polls until the server has a new state to show. It never decides the result of a payment.
 */
import { AmountFields } from './amounts/amount-fields.js';
import { CardForm } from './card-form/card-form.js';
import { PayerChallenge } from './challenge/payer-challenge.js';
import { solveChallenge } from './challenge/solve-challenge.js';
import { messages } from './messages.js';
import { PaymentController } from './payment-controller.js';
import { requestChallenge } from './payment-flow/gateway-calls.js';
import { isChanged, LATE_AFTER_MS } from './payment-flow/payment-flow.js';
import { watchTill } from './till-watch.js';
import {
  hideChallenge,
  showChallengeDuringPayment,
  showChallengeProgress,
  showFormAfterChallenge,
} from './views/challenge-view.js';
import { byId } from './views/document-parts.js';
import { ExpiryWarning } from './views/expiry-warning.js';
import { callsAddress, now, pageData, reload, shownState } from './views/page-document.js';
import { showLateNotice } from './views/processing-view.js';
import { focusOutcome, showBrand, showPrintButton, startRedirectCountdown } from './views/receipt.js';
import { createIdleWatch, createPoller } from './watch-session.js';

/** Final states. A document in one of these states never needs a reload. */
const FINAL_STATES: readonly string[] = ['succeeded', 'already-paid', 'refused', 'expired', 'cancelled'];

// The browser's back button may show a cached document with an outdated state.
window.addEventListener('pageshow', (event) => {
  if (event.persisted && !FINAL_STATES.includes(shownState.state)) reload();
});

async function startForm(): Promise<void> {
  byId('script-late').hidden = true;
  const cardForm = new CardForm(now, messages);
  if (typeof crypto === 'undefined' || !crypto.subtle) {
    hideChallenge();
    cardForm.showMessage(messages.formErrors.insecure);
    return;
  }
  const watch = createIdleWatch((state) => {
    expiry.updateExpiry(state.expiresAt);
    payment.onIdleState(state);
  });
  const expiry = new ExpiryWarning(() => watch.fetchAtExpiry(pageData['expiresAt'] ?? '', now()));
  const amounts = pageData['amount'] === undefined ? undefined : new AmountFields();
  const challenge = new PayerChallenge(pageData['challenge'], {
    request: () => requestChallenge(callsAddress),
    solve: solveChallenge,
    now,
    showWaiting: showChallengeDuringPayment,
    showProgress: showChallengeProgress,
  });
  const payment = new PaymentController(cardForm, watch, amounts, challenge);
  cardForm.start(
    (texts) => void payment.pay(texts),
    () => amounts?.check() ?? true,
  );
  confirmLanguageChange(cardForm);
  window.addEventListener('pagehide', () => cardForm.clear());
  if (payment.wasInterrupted) {
    hideChallenge();
    return payment.resolveInterrupted();
  }
  watch.start();
  if (pageData['challenge'] !== undefined) {
    await challenge.finishFirst();
    showFormAfterChallenge();
  }
  performance.mark('form-usable');
  document.getElementById('decline')?.focus();
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

showBrand();
showPrintButton();
switch (shownState.state) {
  case 'open':
  case 'declined':
    void startForm();
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
    focusOutcome();
}
