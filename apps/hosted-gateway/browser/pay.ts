/**
 * The payment page's script. The server renders every state; this makes the form usable, encrypts the card where it
 * was typed, and then asks until the server has something else to show. It never decides how a payment ended.
 */
import { encryptCard, type CardEncryptionKey } from '@svc/sdk/card';
import { formatTime } from '../src/page-views/format-amount.js';
import { formErrors, paid, processing } from '../src/page-views/strings.js';
import { readCard, type CardFieldTexts } from './card-fields.js';
import { CardForm } from './card-form.js';
import { byId } from './document-parts.js';
import { fetchState, postPayment, streamStates, type PaymentBody } from './gateway-calls.js';
import { IdleWatch } from './idle-watch.js';
import {
  afterPoll,
  afterPost,
  isChanged,
  LATE_AFTER_MS,
  PaymentReference,
  type SessionState,
  settlesReference,
  type Waiting,
} from './payment-flow.js';
import { StatePoller } from './state-poller.js';

const RETURN_AFTER_MS = 3000;
/** While the POST is under way its own answer is expected first; asking covers a connection that died silently. */
const FIRST_POLL_DURING_POST_MS = 1500;

const data = document.querySelector('main')?.dataset ?? {};
const sessionId = data['sessionId'] ?? '';
const callsPath = data['callsPath'] ?? '';
const shown = { state: data['state'] ?? '', version: data['sessionVersion'] };

// Coming back with the browser's button shows a document from memory, with a state of long ago.
window.addEventListener('pageshow', (event) => {
  if (event.persisted) reload();
});

function startForm(): void {
  const cardForm = new CardForm(() => new Date());
  if (typeof crypto === 'undefined' || !crypto.subtle) {
    cardForm.showMessage(formErrors.insecure);
    return;
  }
  const watch = idleWatch();
  const press = new PressOfPay(cardForm, watch);
  cardForm.start((texts) => void press.pay(texts));
  if (press.wasInterrupted) press.findOut();
  else {
    document.getElementById('decline')?.focus();
    watch.start();
  }
  window.addEventListener('pagehide', () => cardForm.clear());
}

/** From the press of Pay until the server has another page to show, or the form is given back. */
class PressOfPay {
  private readonly tryNumber = Number(data['try']);
  private readonly reference = new PaymentReference(storageIfAllowed(), sessionId, this.tryNumber, () =>
    crypto.randomUUID(),
  );
  private readonly poller = pollerFor((polled) => this.onState(polled));
  private body: PaymentBody | undefined;
  private waiting: Waiting = 'answer';
  private unchangedPolls = 0;
  private sends = 0;
  private lateTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly cardForm: CardForm,
    private readonly watch: IdleWatch,
  ) {}

  /** Pay was pressed in a document before this one, and nobody knows yet what came of it. */
  get wasInterrupted(): boolean {
    return this.reference.isUnanswered();
  }

  /**
   * Before the form can be used again: the server may be hearing of that payment just now. It is asked first, and the
   * form comes back when it knows of none; then the same reference makes a second press the same payment.
   */
  findOut(): void {
    this.cardForm.enable(false);
    this.waiting = 'interrupted';
    showProcessing(true);
    sayStillChecking();
    this.poller.start();
  }

  async pay(texts: CardFieldTexts): Promise<void> {
    this.watch.stop();
    this.cardForm.enable(false);
    this.sends = 0;
    try {
      const publicJwk = JSON.parse(data['encryptionKey'] ?? '') as CardEncryptionKey;
      const binding = { sessionId, try: this.tryNumber, expiresAt: data['expiresAt'] ?? '' };
      const encryptedCard = await encryptCard({ card: readCard(texts, new Date()), binding, publicJwk });
      this.body = { reference: this.reference.get(), try: this.tryNumber, encryptedCard };
    } catch {
      this.giveBack(formErrors.cannotEncrypt);
      return;
    }
    showProcessing(true);
    this.lateTimer = setTimeout(sayLate, LATE_AFTER_MS);
    this.poller.start(FIRST_POLL_DURING_POST_MS);
    await this.send(this.body);
  }

  private async send(body: PaymentBody): Promise<void> {
    this.waiting = 'answer';
    this.unchangedPolls = 0;
    this.sends++;
    const outcome = await postPayment(callsPath, body);
    if (settlesReference(outcome)) this.reference.settle();
    const step = afterPost(outcome);
    if (step.do === 'reload') return reload();
    if (step.do === 'leave') {
      this.poller.stop();
      return location.assign(step.to);
    }
    if (step.do === 'correct') {
      this.poller.stop();
      // Refused perhaps because this page is out of date: then the payer needs the new one, not this one's form.
      const current = await fetchState(callsPath, new AbortController().signal);
      if (current && isChanged(current, shown)) return reload();
      return this.giveBack(step.message ?? formErrors[step.problem]);
    }
    this.waiting = step.sent;
    if (step.sent === 'unknown') sayStillChecking();
    else this.poller.pollNow();
  }

  private onState(polled: SessionState): void {
    this.unchangedPolls = isChanged(polled, shown) ? 0 : this.unchangedPolls + 1;
    const { waiting, unchangedPolls, sends } = this;
    const step = afterPoll({ polled, shown, waiting, unchangedPolls, sends });
    if (step === 'reload') reload();
    else if (step === 'send-again' && this.body) void this.send(this.body);
    else if (step === 'give-back') this.giveBack(formErrors.notSent);
  }

  private giveBack(message: string): void {
    this.poller.stop();
    clearTimeout(this.lateTimer);
    this.body = undefined;
    this.waiting = 'answer';
    showProcessing(false);
    this.cardForm.enable(true);
    this.cardForm.showMessage(message);
    // Not at once: a payment that a reload has overtaken is heard of by then, and the stream tells of it.
    this.watch.start();
  }
}

function showProcessing(isProcessing: boolean): void {
  byId('pay-view').hidden = isProcessing;
  // The store would show an order that is not paid, while the bank may still approve the charge.
  const back = document.querySelector('nav');
  if (back) back.hidden = isProcessing;
  const code = document.getElementById('code-view');
  if (code) code.hidden = isProcessing;
  byId('processing-view').hidden = !isProcessing;
  byId('processing-heading').textContent = processing.heading;
  byId('processing-note').textContent = processing.note;
  byId('processing-late').hidden = true;
  if (isProcessing) byId('processing-heading').focus();
}

/** A payment was already running when the page was loaded, or its payer is with the bank. */
function startWaiting(): void {
  pollerFor((polled) => {
    if (isChanged(polled, shown)) reload();
  }).start();
}

/** Waiting is over when the server says so; until then nobody should pay again. */
function sayLate(): void {
  const heading = byId('processing-heading');
  if (heading.textContent === processing.lateHeading) return;
  heading.textContent = processing.lateHeading;
  byId('processing-late').hidden = false;
  sayStillChecking();
}

/** For as long as the form waits for its payer. */
function idleWatch(): IdleWatch {
  const watch = new IdleWatch({
    isVisible: () => document.visibilityState === 'visible',
    ask: () => fetchState(callsPath, new AbortController().signal),
    stream: (onState, onBroken) => streamStates(callsPath, onState, onBroken),
    onState: (state) => {
      if (isChanged(state, shown)) reload();
    },
  });
  document.addEventListener('visibilitychange', () => watch.visibilityChanged());
  window.addEventListener('pagehide', () => watch.stop());
  watch.lookAtExpiry(data['expiresAt'] ?? '');
  return watch;
}

/** Asks first, so that a payment that is decided at once costs no stream; from then on the server tells by itself. */
function pollerFor(onState: ConstructorParameters<typeof StatePoller>[1]): StatePoller {
  let isStreaming = false;
  const stream = () => {
    if (isStreaming) return;
    isStreaming = true;
    const close = streamStates(
      callsPath,
      (state) => poller.told(state),
      () => poller.untold(),
    );
    window.addEventListener('pagehide', close);
  };
  const poller = new StatePoller(
    (signal) => fetchState(callsPath, signal),
    (state) => {
      stream();
      onState(state);
    },
    sayStillChecking,
  );
  window.addEventListener('online', () => poller.pollNow());
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') poller.pollNow();
  });
  return poller;
}

function sayStillChecking(): void {
  const note = document.getElementById('processing-note');
  if (!note) return;
  // Written once: a live region reads out every change.
  if (note.textContent !== processing.stillChecking) note.textContent = processing.stillChecking;
}

function followReturn(): void {
  const link = document.getElementById('return-link') as HTMLAnchorElement | null;
  // On a phone that scanned the code there is none: the shop's own page goes on.
  if (!link?.getAttribute('href')) return;
  byId('returning').textContent = paid.returning;
  // `replace`: the merchant's back button must not lead to a page that leads forward again.
  setTimeout(() => location.replace(link.href), RETURN_AFTER_MS);
}

function showLocalTimes(): void {
  for (const time of document.querySelectorAll<HTMLTimeElement>('time.local-time'))
    time.textContent = formatTime(time.dateTime, data['locale'] ?? '');
}

/** Without the fragment: with one, the browser would only scroll. */
function reload(): void {
  location.replace(location.pathname + location.search);
}

function storageIfAllowed(): Storage | undefined {
  try {
    return window.sessionStorage;
  } catch {
    return undefined;
  }
}

// Last, because a class is there only after its definition.
showLocalTimes();
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
  case 'succeeded':
    followReturn();
}
