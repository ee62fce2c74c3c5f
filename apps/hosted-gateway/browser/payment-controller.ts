import { cardBrand, type CardEncryptionKey, encryptCard } from '@svc/sdk/card';
import type { AmountFields } from './amounts/amount-fields.js';
import { type CardFieldTexts, readCard } from './card-form/card-fields.js';
import type { CardForm } from './card-form/card-form.js';
import { messages } from './messages.js';
import { storeOwnPayment } from './own-payment.js';
import { readBrowserData } from './payment-flow/browser-data.js';
import { fetchState, type PaymentBody, postPayment } from './payment-flow/gateway-calls.js';
import type { IdleWatch } from './payment-flow/idle-watch.js';
import {
  afterPoll,
  afterPost,
  afterRefusal,
  type Correction,
  type DeclinedState,
  hasDecline,
  isChanged,
  isNewlyProcessing,
  LATE_AFTER_MS,
  type NextStep,
  PaymentReference,
  type Sent,
  type SessionState,
  settlesReference,
  type Waiting,
  waitingAfterSend,
  whileIdle,
} from './payment-flow/payment-flow.js';
import { calls, data, now, reload, sessionId, shown, storageIfAllowed } from './views/page-document.js';
import { showLate, showProcessing, showStatus, showStillChecking, showStoreLink } from './views/processing-view.js';
import { rememberBrand } from './views/receipt.js';
import { pollerFor } from './watch-session.js';

/** Normally the response to the POST comes first; polling covers a connection that broke silently. */
const FIRST_POLL_DURING_POST_MS = 1500;
/** Time that the response to a POST may take after the state has changed. */
const ANSWER_AFTER_STATE_MS = 2000;

const { formErrors, processing } = messages;

/** Handles a payment from the press of Pay until the server has a new page, or the form can be used again. */
export class PaymentController {
  private tryNumber = Number(data['try']);
  private reference = referenceOf(this.tryNumber);
  private readonly poller = pollerFor(
    (polled) => this.onState(polled),
    () => {
      if (this.waiting !== 'no') showStillChecking();
    },
  );
  private body: PaymentBody | undefined;
  private waiting: Waiting = 'answer';
  private unchangedPolls = 0;
  private sends = 0;
  private lateTimer: ReturnType<typeof setTimeout> | undefined;
  private reloadTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly cardForm: CardForm,
    private readonly watch: IdleWatch,
    /** Only of an invoice. */
    private readonly amounts: AmountFields | undefined,
  ) {}

  /** The payer pressed Pay before a reload, and the result is unknown. */
  get wasInterrupted(): boolean {
    return this.reference.isUnanswered();
  }

  /**
   * Resolves an interrupted payment before the form can be used: the server may be receiving it just now. Polls, and
   * shows the form when the server has no such payment. Then a second press has the same reference, so it is the same payment.
   */
  resolveInterrupted(): void {
    this.cardForm.enable(false);
    this.waiting = 'interrupted';
    showProcessing(true);
    showStillChecking();
    this.poller.start();
  }

  async pay(texts: CardFieldTexts): Promise<void> {
    this.watch.stop();
    // Stops a navigation that the payer has just started: the page must stay until the result is known.
    window.stop();
    this.cardForm.enable(false);
    this.cardForm.clearFields();
    showProcessing(true);
    showStatus(processing.sendingHeading, processing.note);
    this.sends = 0;
    try {
      const publicJwk = JSON.parse(data['encryptionKey'] ?? '') as CardEncryptionKey;
      const binding = { sessionId, try: this.tryNumber, expiresAt: data['expiresAt'] ?? '' };
      const card = readCard(texts, now());
      const brand = cardBrand(card.cardNumber);
      if (brand.name !== 'unknown') rememberBrand(brand.label, card.cardNumber);
      const encryptedCard = await encryptCard({ card, binding, publicJwk });
      const reference = this.reference.get();
      const chosen = this.amounts?.read();
      this.body = { reference, try: this.tryNumber, encryptedCard, ...chosen, browser: readBrowserData() };
      if (this.amounts) storeOwnPayment(calls.path, reference);
    } catch {
      this.restoreForm(formErrors.cannotEncrypt);
      return;
    }
    this.poller.start(FIRST_POLL_DURING_POST_MS);
    await this.send(this.body);
  }

  private async send(body: PaymentBody): Promise<void> {
    this.waiting = 'answer';
    this.unchangedPolls = 0;
    showStatus(processing.sendingHeading, processing.note);
    this.lateTimer ??= setTimeout(showLate, LATE_AFTER_MS);
    const outcome = await postPayment(calls, body);
    const { mayHaveArrived } = this.reference;
    if (settlesReference(outcome, mayHaveArrived)) this.reference.settle();
    const posted = afterPost(outcome);
    const step = posted.do === 'correct' ? await this.checkRefusal(posted, mayHaveArrived) : posted;
    if (step.do === 'reload') return reload();
    if (step.do === 'next-attempt') return this.tryAgain(step.state);
    if (step.do === 'leave') {
      this.poller.stop();
      return location.assign(step.to);
    }
    if (step.do === 'correct') return this.restoreForm(step.message ?? formErrors[step.problem]);
    this.onSent(step.sent);
    this.poller.start();
  }

  /** Stops the poller until the state is known, because both would decide about the same rejection. */
  private async checkRefusal(refusal: Correction, mayHaveArrived: boolean): Promise<NextStep> {
    this.poller.stop();
    const current = await fetchState(calls, new AbortController().signal);
    return afterRefusal({ refusal, current, shown, mayHaveArrived });
  }

  /** Updates the view after the send. */
  private onSent(sent: Sent): void {
    this.waiting = waitingAfterSend(sent, this.reference.mayHaveArrived);
    if (sent === 'unknown') this.reference.markUnanswered();
    if (sent !== 'no') this.sends++;
    if (this.waiting === 'no') {
      this.clearLateTimer();
      showStatus(processing.offlineHeading, processing.offlineNote);
    } else if (this.waiting === 'unknown') showStillChecking();
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
    if (isNewlyProcessing(polled, this.waiting)) showStatus(processing.heading, processing.note);
    this.unchangedPolls = isChanged(polled, shown) ? 0 : this.unchangedPolls + 1;
    const { waiting, unchangedPolls, sends } = this;
    const step = afterPoll({ polled, shown, waiting, unchangedPolls, sends });
    if (step === 'reload' && waiting === 'yes' && hasDecline(polled)) this.tryAgain(polled);
    else if (step === 'reload' && waiting === 'answer' && hasDecline(polled)) {
      // The pending response shows whose attempt it was. Wait only briefly, since the connection may be dead.
      this.reloadTimer ??= setTimeout(reload, ANSWER_AFTER_STATE_MS);
    } else if (step === 'reload') reload();
    else if (step === 'send-again' && this.body) void this.send(this.body);
    else if (step === 'restore-form') this.restoreForm(formErrors.notSent);
  }

  private restoreForm(message: string): void {
    this.showForm();
    this.cardForm.showMessage(message);
  }

  /** After a decline: the same form for the next attempt, with the input except the CVV. */
  private tryAgain(state: DeclinedState): void {
    this.applyState(state, state.decline.try);
    this.showForm();
    this.cardForm.showDecline(state.decline);
  }

  /** Handles a state that arrives while the form waits for the payer, who may be typing. */
  onIdleState(received: SessionState): void {
    const { mayHaveArrived } = this.reference;
    showStoreLink(received.state !== 'processing');
    const step = whileIdle({
      received,
      shown,
      tryNumber: this.tryNumber,
      mayHaveArrived,
      isTyped: this.cardForm.isTyped,
    });
    if (step.do === 'ignore') return;
    if (step.do === 'reload') return reload();
    const coming = hasDecline(step.state) ? step.state.decline : step.state.coming;
    this.applyState(step.state, coming.try);
    if (step.say === 'decline') this.cardForm.showDecline(step.state.decline);
    if (step.say === 'elsewhere') this.cardForm.showNotice(`${formErrors.elsewhere} ${coming.triesLeft}`);
  }

  private applyState({ state, version }: SessionState, tryNumber: number): void {
    [shown.state, shown.version] = [state, version];
    this.tryNumber = tryNumber;
    this.reference = referenceOf(tryNumber);
  }

  private showForm(): void {
    this.poller.stop();
    this.clearLateTimer();
    clearTimeout(this.reloadTimer);
    this.reloadTimer = undefined;
    this.body = undefined;
    this.waiting = 'answer';
    showProcessing(false);
    this.cardForm.restoreFields();
    this.cardForm.enable(true);
    // Starts after a delay: by then the server knows a payment that was sent just before a reload.
    this.watch.start();
  }
}

function referenceOf(tryNumber: number): PaymentReference {
  return new PaymentReference(storageIfAllowed(), sessionId, tryNumber, () => crypto.randomUUID());
}
