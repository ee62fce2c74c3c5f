/**
 * Pure functions that decide the next step of the page. The main rule: after the payer has pressed Pay, the page waits
 * until the server reports a state. A lost response is not a failed payment. Therefore the page never shows the form
 * again without a state from the server, and every retry has the same `reference`, so that it cannot charge twice (C7).
 */

/** The state of a session or invoice, from the server (`PageState` in show-page.ts). */
export interface SessionState {
  state: string;
  /** Version of the state, converted to text. The server may send a number. */
  version?: string | undefined;
  /** Expiry of the session (ISO 8601 UTC). */
  expiresAt?: string;
  /** Present after a failed payment: the texts of the form. */
  decline?: DeclinedPayment | undefined;
  /** Present if the form is open. It changes after the payment of another payer has failed. */
  nextPayment?: NextPayment | undefined;
}

export interface NextPayment {
  paymentNumber: number;
  /** Text with the number of payments left. */
  paymentsLeft: string;
}

/** The texts of the form after a failed payment, from the server. */
export interface DeclinedPayment extends NextPayment {
  title: string;
  next: string;
  /** Text with the payment reference. */
  reference?: string;
  /** The field that the bank did not accept, if known. */
  field?: string;
}

/** A declined state with all data that the form needs to continue without a reload. */
export type DeclinedState = SessionState & { decline: DeclinedPayment };

/** An open state with the number of its next payment. */
type NextPaymentState = SessionState & { nextPayment: NextPayment };

export type PostResult =
  | {
      kind: 'response';
      httpStatus: number;
      state?: string;
      message?: string;
      redirectUrl?: string;
      received?: SessionState;
      /** The header `retry-after`, if it is a number of seconds. */
      retryAfterSeconds?: number;
    }
  /**
   * There was no response. `neverSent`: the browser was offline and sent nothing. Otherwise the request may have
   * arrived.
   */
  | { kind: 'unreachable'; neverSent?: boolean };

/**
 * Result of sending a payment. `accepted`: the server has the payment. `unknown`: the server may have it. `not-sent`:
 * the browser was offline. `other-payment`: the server rejected the payment, because another payment is in progress.
 */
export type SendResult = 'accepted' | 'unknown' | 'not-sent' | 'other-payment';

export type NextStep =
  /** Reload the page, so that the server renders the current state. */
  | { do: 'reload' }
  /** Show the form for the next payment, with the same input except the CVV. */
  | { do: 'next-payment'; state: DeclinedState }
  /** Redirect to the bank's page, which will redirect back. */
  | { do: 'redirect'; url: string }
  /** Poll the state until it changes. */
  | { do: 'poll'; result: SendResult }
  /** Solve another challenge, and send the payment again. The server has not started the payment. */
  | { do: 'solve-challenge' }
  /** Wait, and send the payment again. The server has not started the payment. */
  | { do: 'repeat'; afterSeconds: number }
  | FormError;

/** Show the form again, with the error message of the server or a message of the page. */
export interface FormError {
  do: 'show-form-error';
  message?: string;
  problem: 'refused' | 'tooMany' | 'notSent';
}

/** The page repeats a payment by itself only if the server asks for at most this delay. */
const MAX_REPEAT_SECONDS = 5;
/** Number of repeats after which the form is shown again. */
const MAX_REPEATS = 10;

/**
 * Decides the next step after the POST of a payment.
 *
 * @param repeats how often the page has repeated the payment, because too many payments of its network were in flight
 */
export function decideAfterPost(outcome: PostResult, repeats = 0): NextStep {
  if (outcome.kind === 'unreachable')
    return { do: 'poll', result: outcome.neverSent === true ? 'not-sent' : 'unknown' };
  const { httpStatus, state, message, redirectUrl, received, retryAfterSeconds = Infinity } = outcome;
  if (httpStatus >= 200 && httpStatus < 300) {
    if (received && canContinueAfterDecline(received)) return { do: 'next-payment', state: received };
    if (state === 'verification' && isWebAddress(redirectUrl)) return { do: 'redirect', url: redirectUrl };
    // The response comes from a proxy, so the payment may or may not have reached the gateway.
    if (state === undefined) return { do: 'poll', result: 'unknown' };
    return state === 'processing' ? { do: 'poll', result: 'accepted' } : { do: 'reload' };
  }
  // Another payment of this session is in progress, perhaps from another tab of this payer.
  if (httpStatus === 409) return { do: 'poll', result: 'other-payment' };
  if (httpStatus === 402 || httpStatus === 404 || httpStatus === 410) return { do: 'reload' };
  if (httpStatus === 428) return { do: 'solve-challenge' };
  if (httpStatus === 429)
    return retryAfterSeconds <= MAX_REPEAT_SECONDS && repeats < MAX_REPEATS
      ? { do: 'repeat', afterSeconds: retryAfterSeconds }
      : { do: 'show-form-error', problem: 'tooMany' };
  if (httpStatus >= 400 && httpStatus < 500 && httpStatus !== 408) {
    return { do: 'show-form-error', problem: 'refused', ...(message === undefined ? {} : { message }) };
  }
  return { do: 'poll', result: 'unknown' };
}

/**
 * Decides the next step after the server rejected a payment. An earlier request of the same payment may have arrived.
 * In that case neither the rejection nor an open session proves that nothing was charged, so the message must not claim
 * that nothing was charged.
 *
 * @param current the state that the caller fetched after the rejection; undefined if the server did not respond
 */
export function decideAfterRejection(input: {
  rejection: FormError;
  current: SessionState | undefined;
  shown: SessionState;
  mayHaveArrived: boolean;
}): NextStep {
  const { rejection, current, shown, mayHaveArrived } = input;
  if (current && isChanged(current, shown)) return { do: 'reload' };
  if (!mayHaveArrived) return rejection;
  return current ? { ...rejection, problem: 'notSent' } : { do: 'poll', result: 'unknown' };
}

/** True for an http(s) URL. The browser would execute a URL such as `javascript:`. */
function isWebAddress(address: string | undefined): address is string {
  return address !== undefined && /^https?:\/\//i.test(address);
}

/** True if the state contains all data that the form needs for the next payment. */
export function canContinueAfterDecline(state: SessionState): state is DeclinedState {
  return state.state === 'declined' && state.decline !== undefined && state.version !== undefined;
}

/**
 * True if this response settles a reference: the result is known, so the next pay request needs a new reference.
 *
 * @param mayHaveArrived true if an earlier request with the reference may have arrived. The bank may approve that
 * request although this response is a 400 or 422
 */
export function settlesReference(outcome: PostResult, mayHaveArrived: boolean): boolean {
  if (outcome.kind === 'unreachable') return false;
  const { httpStatus, state } = outcome;
  if (httpStatus === 400 || httpStatus === 422) return !mayHaveArrived;
  return (httpStatus >= 200 && httpStatus < 300 && state !== undefined) || httpStatus === 402;
}

/**
 * True if a POST without a response was never sent, because the browser was offline before it, after it, and at all
 * times in between.
 */
export function wasNeverSent(network: { wasOffline: boolean; cameOnline: boolean; isOffline: boolean }): boolean {
  return network.wasOffline && !network.cameOnline && network.isOffline;
}

/**
 * The state of the payment in the page while it polls. `in-flight`: the POST has no response yet. `interrupted`: a
 * reload interrupted the payment.
 */
export type SendState = SendResult | 'in-flight' | 'interrupted';

/**
 * The state of the payment after a request. If an earlier request may have arrived, the payment is never `not-sent`.
 */
export function sendStateAfter(result: SendResult, mayHaveArrived: boolean): SendResult {
  return result === 'not-sent' && mayHaveArrived ? 'unknown' : result;
}

/** True if the page shows "sending" or "offline", but must now show that the bank processes the payment. */
export function isNewlyProcessing(polled: SessionState, sendState: SendState): boolean {
  return polled.state === 'processing' && (sendState === 'in-flight' || sendState === 'not-sent');
}

type PollStep = 'wait' | 'reload' | 'resend' | 'restore-form';

/** Number of requests without a response after which the form is shown again. */
export const MAX_SENDS = 4;
/** Number of unchanged polls after which the page assumes that the other payment has ended. */
const OTHER_PAYMENT_POLLS = 4;
/** Number of unchanged polls after which the page assumes that the server has not received an interrupted payment. */
const INTERRUPTED_POLLS = 4;

/**
 * Decides the next step after a poll.
 *
 * @param shown the state that this document shows
 * @param unchangedPolls number of consecutive polls that returned `shown`, including this one
 * @param sendCount number of requests with this payment
 */
export function decideAfterPoll(input: {
  polled: SessionState;
  shown: SessionState;
  sendState: SendState;
  unchangedPolls: number;
  sendCount: number;
}): PollStep {
  const { polled, shown, sendState } = input;
  if (polled.state === 'processing') return sendState === 'interrupted' ? 'reload' : 'wait';
  if (isChanged(polled, shown)) return 'reload';
  if (sendState === 'interrupted') return input.unchangedPolls >= INTERRUPTED_POLLS ? 'restore-form' : 'wait';
  if (sendState === 'other-payment') return input.unchangedPolls >= OTHER_PAYMENT_POLLS ? 'reload' : 'wait';
  // The poll got a response, so the browser is online again.
  if (sendState === 'not-sent') return 'resend';
  if (sendState === 'unknown') return input.sendCount < MAX_SENDS ? 'resend' : 'restore-form';
  return 'wait';
}

type IdleStep =
  | { do: 'ignore' }
  | { do: 'reload' }
  /**
   * Show the form for the next payment. `notice`: whose payment failed, or `none` if the form already offers this
   * payment.
   */
  | { do: 'apply-state'; state: DeclinedState; notice: 'own-decline' | 'other-payer' | 'none' }
  | { do: 'apply-state'; state: NextPaymentState; notice: 'other-payer' | 'none' };

/**
 * Decides the next step after a new state has arrived while the form is shown.
 *
 * @param paymentNumber number of the payment that the form offers
 * @param mayHaveArrived true if a payment of this form got no response. A failed payment is probably this payment
 * @param isTyped true if the form is not empty. Such a form stays during the payment of another payer, because that
 * payment may fail
 */
export function decideWhileIdle(input: {
  received: SessionState;
  shown: SessionState;
  paymentNumber: number;
  mayHaveArrived: boolean;
  isTyped: boolean;
}): IdleStep {
  const { received, shown, paymentNumber, mayHaveArrived, isTyped } = input;
  if (!isChanged(received, shown)) return { do: 'ignore' };
  if (received.state === 'processing' && isTyped && !mayHaveArrived) return { do: 'ignore' };
  if (hasNextPayment(received)) {
    if (received.nextPayment.paymentNumber === paymentNumber)
      return { do: 'apply-state', state: received, notice: 'none' };
    // The payment of another payer has failed. After a reload the page shows whether a payment of this form has failed
    // too.
    return mayHaveArrived ? { do: 'reload' } : { do: 'apply-state', state: received, notice: 'other-payer' };
  }
  if (!canContinueAfterDecline(received)) return { do: 'reload' };
  if (received.decline.paymentNumber === paymentNumber) return { do: 'apply-state', state: received, notice: 'none' };
  return { do: 'apply-state', state: received, notice: mayHaveArrived ? 'own-decline' : 'other-payer' };
}

function hasNextPayment(state: SessionState): state is NextPaymentState {
  return state.state === 'open' && state.nextPayment !== undefined && state.version !== undefined;
}

/**
 * True if the server would now render another page. The pages `open`, `declined` and (for another card) `verification`
 * can all show the form. So if both states are one of these, the state has changed only if its version is newer.
 */
export function isChanged(polled: SessionState, shown: SessionState): boolean {
  const canBothShowForm = canShowForm(polled.state) && canShowForm(shown.state);
  if (canBothShowForm && polled.version !== undefined && shown.version !== undefined) {
    return isNewer(polled.version, shown.version);
  }
  return polled.state !== shown.state;
}

function isNewer(version: string, known: string): boolean {
  const areNumbers = [version, known].every((text) => /^\d+$/.test(text));
  return areNumbers ? Number(version) > Number(known) : version !== known;
}

function canShowForm(state: string): boolean {
  return state === 'open' || state === 'declined' || state === 'verification';
}

/**
 * Delay before a poll: 250 ms at first, growing to 2 s. Most banks respond soon; later polls are slower to save a
 * phone's battery.
 */
export function pollDelayMs(polls: number): number {
  return Math.min(2000, Math.round(250 * 1.4 ** Math.min(polls, 20)));
}

/** With an open stream, the page polls only after this time without an event. */
export const STREAM_SILENCE_MS = 12_000;
/** After this time without a result the page says that the payment takes longer than usual. */
export const LATE_AFTER_MS = 10_000;

/** The methods of sessionStorage that {@link PaymentReference} uses. */
export interface KeyValueStore {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

/**
 * The reference of the next payment. It is created once, and stored across reloads until a response of the
 * server settles it. If the browser allows no storage, it is lost with the document.
 */
export class PaymentReference {
  private readonly key: string;
  private value: string | undefined;
  private mayBeSent: boolean;

  constructor(
    private readonly store: KeyValueStore | undefined,
    sessionId: string,
    paymentNumber: number,
    private readonly randomUuid: () => string,
  ) {
    this.key = `svc-pay/${sessionId}/${paymentNumber}`;
    this.mayBeSent = this.isPending();
  }

  get(): string {
    this.value ??= this.tryStore((store) => store.getItem(this.key)) ?? this.randomUuid();
    const value = this.value;
    this.tryStore((store) => store.setItem(this.key, value));
    return value;
  }

  /** True if a reference is stored: the payer pressed Pay, and no response has settled the reference. */
  isPending(): boolean {
    return typeof this.tryStore((store) => store.getItem(this.key)) === 'string';
  }

  /**
   * True if a payment with this reference may have arrived at the server: this document sent it and got no response, or
   * an earlier document may have sent it. False if the server has rejected the only request.
   */
  get mayHaveArrived(): boolean {
    return this.mayBeSent;
  }

  /** Must be called after a request without a response. */
  markMayHaveArrived(): void {
    this.mayBeSent = true;
  }

  /** Must be called when the result is known. The next call of {@link get} creates a new reference. */
  settle(): void {
    this.value = undefined;
    this.mayBeSent = false;
    this.tryStore((store) => store.removeItem(this.key));
  }

  private tryStore<T>(use: (store: KeyValueStore) => T): T | undefined {
    try {
      return this.store && use(this.store);
    } catch {
      return undefined;
    }
  }
}
