import { cardBrand, type CardEncryptionKey, encryptCard } from '@svc/sdk/card';
import type { AmountFields } from './amounts/amount-fields.js';
import { type CardFieldTexts, readCard } from './card-form/card-fields.js';
import type { CardForm } from './card-form/card-form.js';
import type { PayerChallenge } from './challenge/payer-challenge.js';
import { messages } from './messages.js';
import { storeOwnPayment } from './own-payment.js';
import { readBrowserData } from './payment-flow/browser-data.js';
import { fetchState, type PaymentBody, postPayment } from './payment-flow/gateway-calls.js';
import type { IdleWatch } from './payment-flow/idle-watch.js';
import {
  canContinueAfterDecline,
  decideAfterPoll,
  decideAfterPost,
  decideAfterRejection,
  decideWhileIdle,
  type DeclinedState,
  type FormError,
  isChanged,
  isNewlyProcessing,
  LATE_AFTER_MS,
  type NextStep,
  PaymentReference,
  type SendResult,
  type SendState,
  sendStateAfter,
  type SessionState,
  settlesReference,
} from './payment-flow/payment-flow.js';
import { callsAddress, now, pageData, reload, sessionId, shownState, storageIfAllowed } from './views/page-document.js';
import {
  showLateNotice,
  showProcessing,
  showStatus,
  showStillChecking,
  showStoreLink,
} from './views/processing-view.js';
import { storeBrand } from './views/receipt.js';
import { createPoller } from './watch-session.js';

/**
 * Delay of the first poll during a POST. Usually the response arrives earlier. The poll is for a connection that broke
 * without an error.
 */
const FIRST_POLL_DURING_POST_MS = 1500;
/** Number of challenges after which the form is shown again. Usually the payment needs none or one. */
const MAX_CHALLENGES = 3;
/** Time to wait for the response to a POST after a poll has shown that the state has changed. */
const RESPONSE_AFTER_STATE_MS = 2000;

const { formErrors, processing } = messages;

/**
 * Handles a payment from the moment when the payer presses Pay until the page reloads, or the form can be used again.
 */
export class PaymentController {
  private paymentNumber = Number(pageData['paymentNumber']);
  private reference = createReference(this.paymentNumber);
  private readonly poller = createPoller(
    (polled) => this.onState(polled),
    () => {
      if (this.sendState !== 'not-sent') showStillChecking();
    },
  );
  private body: PaymentBody | undefined;
  private sendState: SendState = 'in-flight';
  private unchangedPolls = 0;
  private sendCount = 0;
  /** Number of challenges that the server required after the payer pressed Pay. */
  private challengeCount = 0;
  /** Number of times that the page repeated the payment after a delay. */
  private repeatCount = 0;
  private lateTimer: ReturnType<typeof setTimeout> | undefined;
  private reloadTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly cardForm: CardForm,
    private readonly watch: IdleWatch,
    /** Present only for an invoice. */
    private readonly amounts: AmountFields | undefined,
    private readonly challenge: PayerChallenge,
  ) {}

  /** True if the payer pressed Pay before a reload of the page, and the result is unknown. */
  get wasInterrupted(): boolean {
    return this.reference.isPending();
  }

  /**
   * Polls until the result of an interrupted payment is known, because the server may be receiving the payment at this
   * moment. Enables the form if the server does not have the payment. If the payer then presses Pay again, the request
   * has the same reference, so it cannot cause a second charge.
   */
  resolveInterrupted(): void {
    this.cardForm.enable(false);
    this.sendState = 'interrupted';
    showProcessing(true);
    showStillChecking();
    this.poller.start();
  }

  async pay(texts: CardFieldTexts): Promise<void> {
    this.watch.stop();
    // Stops a navigation that the payer has just started, because the page must stay until the result is known.
    window.stop();
    this.cardForm.enable(false);
    this.cardForm.clearFields();
    showProcessing(true);
    showStatus(processing.sendingHeading, processing.note);
    this.sendCount = this.challengeCount = this.repeatCount = 0;
    try {
      const publicJwk = JSON.parse(pageData['encryptionKey'] ?? '') as CardEncryptionKey;
      const binding = { sessionId, paymentNumber: this.paymentNumber, expiresAt: pageData['expiresAt'] ?? '' };
      const card = readCard(texts, now());
      const brand = cardBrand(card.cardNumber);
      if (brand.name !== 'unknown') storeBrand(brand.label, card.cardNumber);
      const encryptedCard = await encryptCard({ card, binding, publicJwk });
      const reference = this.reference.get();
      const chosenAmounts = this.amounts?.read();
      this.body = {
        reference,
        paymentNumber: this.paymentNumber,
        encryptedCard,
        ...chosenAmounts,
        browser: readBrowserData(),
      };
      if (this.amounts) storeOwnPayment(callsAddress.path, reference);
    } catch {
      this.restoreForm(formErrors.cannotEncrypt);
      return;
    }
    await this.solveAndSend(this.body);
  }

  /** Sends the payment with the solution of a challenge, if it needs one. */
  private async solveAndSend(payment: PaymentBody): Promise<void> {
    const solution = await this.challenge.getSolution();
    if (!solution) return this.restoreForm(formErrors.notSent);
    this.body = { ...payment, ...solution };
    this.poller.start(FIRST_POLL_DURING_POST_MS);
    await this.send(this.body);
  }

  private async send(body: PaymentBody): Promise<void> {
    this.sendState = 'in-flight';
    this.unchangedPolls = 0;
    showStatus(this.repeatCount > 0 ? processing.busyHeading : processing.sendingHeading, processing.note);
    this.lateTimer ??= setTimeout(showLateNotice, LATE_AFTER_MS);
    const outcome = await postPayment(callsAddress, body);
    const { mayHaveArrived } = this.reference;
    if (settlesReference(outcome, mayHaveArrived)) {
      this.reference.settle();
      this.challenge.markUsed();
    }
    const firstStep = decideAfterPost(outcome, this.repeatCount);
    const isRejected = firstStep.do === 'show-form-error';
    const step = isRejected ? await this.handleRejection(firstStep, mayHaveArrived) : firstStep;
    if (step.do === 'reload') return reload();
    if (step.do === 'next-payment') return this.showNextPayment(step.state);
    if (step.do === 'redirect') {
      this.poller.stop();
      return location.assign(step.url);
    }
    if (step.do === 'solve-challenge') return this.solveAnother(body);
    if (step.do === 'repeat') return this.repeatLater(body, step.afterSeconds);
    if (step.do === 'show-form-error') return this.restoreForm(step.message ?? formErrors[step.problem]);
    this.onSent(step.result);
    this.poller.start();
  }

  /** Waits up to a second longer, so that the payers of a network do not all repeat at the same time. */
  private repeatLater(body: PaymentBody, afterSeconds: number): void {
    this.repeatCount++;
    this.poller.stop();
    this.clearLateTimer();
    showStatus(processing.busyHeading, processing.note);
    setTimeout(() => void this.solveAndSend(body), (afterSeconds + Math.random()) * 1_000);
  }

  private async solveAnother(body: PaymentBody): Promise<void> {
    this.poller.stop();
    this.clearLateTimer();
    this.challenge.requireAnother();
    if (++this.challengeCount > MAX_CHALLENGES) return this.restoreForm(formErrors.challengeFailed);
    await this.solveAndSend(body);
  }

  /**
   * Fetches the state to decide about a rejection. Stops the poller meanwhile, because the poller would also react to
   * this state.
   */
  private async handleRejection(rejection: FormError, mayHaveArrived: boolean): Promise<NextStep> {
    this.poller.stop();
    const current = await fetchState(callsAddress, new AbortController().signal);
    return decideAfterRejection({ rejection, current, shown: shownState, mayHaveArrived });
  }

  /** Updates the view after a request that the server has not rejected. */
  private onSent(result: SendResult): void {
    this.sendState = sendStateAfter(result, this.reference.mayHaveArrived);
    if (result === 'unknown') this.reference.markMayHaveArrived();
    if (result !== 'not-sent') this.sendCount++;
    if (this.sendState === 'not-sent') {
      this.clearLateTimer();
      showStatus(processing.offlineHeading, processing.offlineNote);
    } else if (this.sendState === 'unknown') showStillChecking();
    else {
      showStatus(processing.heading, processing.note);
      this.poller.pollNow();
    }
  }

  private clearLateTimer(): void {
    clearTimeout(this.lateTimer);
    this.lateTimer = undefined;
  }

  private onState(polled: SessionState): void {
    if (isNewlyProcessing(polled, this.sendState)) showStatus(processing.heading, processing.note);
    this.unchangedPolls = isChanged(polled, shownState) ? 0 : this.unchangedPolls + 1;
    const { sendState, unchangedPolls, sendCount } = this;
    const step = decideAfterPoll({ polled, shown: shownState, sendState, unchangedPolls, sendCount });
    if (step === 'reload' && sendState === 'accepted' && canContinueAfterDecline(polled)) this.showNextPayment(polled);
    else if (step === 'reload' && sendState === 'in-flight' && canContinueAfterDecline(polled)) {
      // The pending response shows whose payment failed: the payment of this payer or of another payer. Waits only
      // briefly, because the connection may be broken.
      this.reloadTimer ??= setTimeout(reload, RESPONSE_AFTER_STATE_MS);
    } else if (step === 'reload') reload();
    else if (step === 'resend' && this.body) void this.send(this.body);
    else if (step === 'restore-form') this.restoreForm(formErrors.notSent);
  }

  private restoreForm(message: string): void {
    this.showForm();
    this.cardForm.showMessage(message);
  }

  /** Shows the form for the next payment after a decline, with the same input except the CVV. */
  private showNextPayment(state: DeclinedState): void {
    this.applyState(state, state.decline.paymentNumber);
    this.showForm();
    this.cardForm.showDecline(state.decline);
  }

  /** Handles a state that arrives while the form is shown. The payer may be typing. */
  onIdleState(received: SessionState): void {
    const { mayHaveArrived } = this.reference;
    showStoreLink(received.state !== 'processing');
    const step = decideWhileIdle({
      received,
      shown: shownState,
      paymentNumber: this.paymentNumber,
      mayHaveArrived,
      isTyped: this.cardForm.isTyped,
    });
    if (step.do === 'ignore') return;
    if (step.do === 'reload') return reload();
    const nextPayment = canContinueAfterDecline(step.state) ? step.state.decline : step.state.nextPayment;
    this.applyState(step.state, nextPayment.paymentNumber);
    if (step.notice === 'own-decline') this.cardForm.showDecline(step.state.decline);
    if (step.notice === 'other-payer')
      this.cardForm.showNotice(`${formErrors.otherPayerFailed} ${nextPayment.paymentsLeft}`.trim());
  }

  private applyState({ state, version }: SessionState, paymentNumber: number): void {
    [shownState.state, shownState.version] = [state, version];
    this.paymentNumber = paymentNumber;
    this.reference = createReference(paymentNumber);
  }

  private showForm(): void {
    this.poller.stop();
    this.clearLateTimer();
    clearTimeout(this.reloadTimer);
    this.reloadTimer = undefined;
    this.body = undefined;
    this.sendState = 'in-flight';
    showProcessing(false);
    this.cardForm.restoreFields();
    this.cardForm.enable(true);
    this.challenge.prepareNext();
    // Starts after a delay, so that the server has received a payment that was sent just before a reload.
    this.watch.start();
  }
}

function createReference(paymentNumber: number): PaymentReference {
  return new PaymentReference(storageIfAllowed(), sessionId, paymentNumber, () => crypto.randomUUID());
}
