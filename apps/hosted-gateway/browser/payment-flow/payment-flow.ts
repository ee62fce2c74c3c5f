/**
 * What the page does next, decided without a browser. The rule behind all of it: once Pay was pressed, only the
 * server's word ends the waiting. A lost answer is not a failed payment, so the form never comes back on a guess, and
 * whatever is sent again carries the same `reference` and is therefore the same payment (C7).
 */

/** A session's state as the server tells it. */
export interface SessionState {
  state: string;
  /** As text, whatever its type on the wire. */
  version?: string | undefined;
  /** Until when the form can be used; ISO 8601 UTC. */
  expiresAt?: string;
  /** After a try that failed: what the form says now. */
  decline?: DeclinedTry | undefined;
  /** Of an open form: the try that it offers now, which is another one after somebody else's has failed. */
  coming?: ComingTry | undefined;
}

export interface ComingTry {
  try: number;
  /** In words. */
  triesLeft: string;
}

/** As the server words it. */
export interface DeclinedTry extends ComingTry {
  title: string;
  next: string;
  /** The payment's reference, in words. */
  reference?: string;
  /** The field that the bank did not accept, where it said. */
  field?: string;
}

/** A state from which the form goes on without being loaded again. */
export type DeclinedState = SessionState & { decline: DeclinedTry };

/** An open form that offers another try than before. */
export type ComingState = SessionState & { coming: ComingTry };

export type PostOutcome =
  | {
      kind: 'answered';
      httpStatus: number;
      state?: string;
      message?: string;
      redirectUrl?: string;
      told?: SessionState;
    }
  /** `neverSent`: the browser had no network and gave up at once. Otherwise it may have arrived. */
  | { kind: 'unreachable'; neverSent?: boolean };

/** Whether the server is known to have the payment, or that of another payer. */
export type Sent = 'yes' | 'unknown' | 'no' | 'elsewhere';

export type NextStep =
  /** The server renders the truth. */
  | { do: 'reload' }
  /** The same form for the next try, with what was typed but for the CVV. */
  | { do: 'try-again'; state: DeclinedState }
  /** To the bank's own page, which leads back. */
  | { do: 'leave'; to: string }
  /** Keep asking. */
  | { do: 'poll'; sent: Sent }
  | Correction;

/** The form again, with the server's words or with our own. */
export interface Correction {
  do: 'correct';
  message?: string;
  problem: 'refused' | 'tooMany' | 'notSent';
}

/** After `POST …/payments`. */
export function afterPost(outcome: PostOutcome): NextStep {
  if (outcome.kind === 'unreachable') return { do: 'poll', sent: outcome.neverSent === true ? 'no' : 'unknown' };
  const { httpStatus, state, message, redirectUrl, told } = outcome;
  if (httpStatus >= 200 && httpStatus < 300) {
    if (told && hasDecline(told)) return { do: 'try-again', state: told };
    if (state === 'verification' && isWebAddress(redirectUrl)) return { do: 'leave', to: redirectUrl };
    // Something in between has answered in our place: nobody knows whether the payment has passed it.
    if (state === undefined) return { do: 'poll', sent: 'unknown' };
    return state === 'processing' ? { do: 'poll', sent: 'yes' } : { do: 'reload' };
  }
  // Somebody pays this session at this moment, perhaps this payer in another tab.
  if (httpStatus === 409) return { do: 'poll', sent: 'elsewhere' };
  if (httpStatus === 402 || httpStatus === 404 || httpStatus === 410) return { do: 'reload' };
  if (httpStatus === 429) return { do: 'correct', problem: 'tooMany' };
  if (httpStatus >= 400 && httpStatus < 500 && httpStatus !== 408) {
    return { do: 'correct', problem: 'refused', ...(message === undefined ? {} : { message }) };
  }
  return { do: 'poll', sent: 'unknown' };
}

/**
 * After `correct`, with the state that the server was then asked for. The page may be out of date: then the payer needs the
 * new one. And a refusal is about one send only: where an earlier send may have arrived, neither the refusal nor a session
 * that is still open proves that nothing is charged, so the message does not say it.
 *
 * @param current undefined when the server did not answer
 */
export function afterRefusal(input: {
  refusal: Correction;
  current: SessionState | undefined;
  shown: SessionState;
  mayHaveArrived: boolean;
}): NextStep {
  const { refusal, current, shown, mayHaveArrived } = input;
  if (current && isChanged(current, shown)) return { do: 'reload' };
  if (!mayHaveArrived) return refusal;
  return current ? { ...refusal, problem: 'notSent' } : { do: 'poll', sent: 'unknown' };
}

/** An address of another kind would be run, not opened. */
function isWebAddress(address: string | undefined): address is string {
  return address !== undefined && /^https?:\/\//i.test(address);
}

/** Whether the form that is shown can go on with the next try. */
export function hasDecline(state: SessionState): state is DeclinedState {
  return state.state === 'declined' && state.decline !== undefined && state.version !== undefined;
}

/**
 * Whether this answer settles a reference: a later press of Pay is then another payment.
 *
 * @param mayHaveArrived an earlier send of the reference may have arrived: a 400 does not say that the bank will not approve it
 */
export function settlesReference(outcome: PostOutcome, mayHaveArrived: boolean): boolean {
  if (outcome.kind === 'unreachable') return false;
  const { httpStatus, state } = outcome;
  if (httpStatus === 400) return !mayHaveArrived;
  return (httpStatus >= 200 && httpStatus < 300 && state !== undefined) || httpStatus === 402;
}

/** Whether a POST without an answer was never sent: the browser had no network when it began, when it failed, nor in between. */
export function wasNeverSent(network: { wasOffline: boolean; cameOnline: boolean; isOffline: boolean }): boolean {
  return network.wasOffline && !network.cameOnline && network.isOffline;
}

/**
 * What the page waits for while it polls; `answer`: the POST is still under way; `no`: for a network, nothing was sent yet;
 * `interrupted`: it was sent by the document before this one, which was left before the answer came.
 */
export type Waiting = 'answer' | 'yes' | 'unknown' | 'no' | 'elsewhere' | 'interrupted';

/** What the page waits for after a send. A payment that may have arrived is never again one that was not sent. */
export function waitingAfterSend(sent: Sent, mayHaveArrived: boolean): Sent {
  return sent === 'no' && mayHaveArrived ? 'unknown' : sent;
}

/** Whether the page now has to say that a bank has a payment: until then it said that it sends, or that it is offline. */
export function isFirstSightOfProcessing(polled: SessionState, waiting: Waiting): boolean {
  return polled.state === 'processing' && (waiting === 'answer' || waiting === 'no');
}

export type PollStep = 'wait' | 'reload' | 'send-again' | 'give-back';

/** How often an unanswered payment is sent again before the form comes back. */
export const MAX_SENDS = 4;
/** How many polls find nothing running before "somebody else is paying" is over. */
const ELSEWHERE_POLLS = 4;
/** How many find nothing of a payment that a reload interrupted: by then the server would have heard of it. */
const INTERRUPTED_POLLS = 4;

/**
 * After a poll.
 *
 * @param shown the state this document was rendered from
 * @param unchangedPolls polls in a row that found `shown`, this one included
 * @param sends how often the payment was sent
 */
export function afterPoll(input: {
  polled: SessionState;
  shown: SessionState;
  waiting: Waiting;
  unchangedPolls: number;
  sends: number;
}): PollStep {
  const { polled, shown, waiting } = input;
  if (polled.state === 'processing') return waiting === 'interrupted' ? 'reload' : 'wait';
  if (isChanged(polled, shown)) return 'reload';
  if (waiting === 'interrupted') return input.unchangedPolls >= INTERRUPTED_POLLS ? 'give-back' : 'wait';
  if (waiting === 'elsewhere') return input.unchangedPolls >= ELSEWHERE_POLLS ? 'reload' : 'wait';
  // The server has answered, so there is a network again; a try without one does not count.
  if (waiting === 'no') return 'send-again';
  if (waiting === 'unknown') return input.sends < MAX_SENDS ? 'send-again' : 'give-back';
  return 'wait';
}

export type IdleStep =
  | { do: 'ignore' }
  | { do: 'reload' }
  /** The same form for the next try. `say`: whose try has failed, or nothing when the form already offers this try. */
  | { do: 'take-up'; state: DeclinedState; say: 'decline' | 'elsewhere' | 'nothing' }
  | { do: 'take-up'; state: ComingState; say: 'elsewhere' | 'nothing' };

/**
 * After the server told a state while the form waited for its payer.
 *
 * @param tryNumber the try that the form offers
 * @param mayHaveArrived a payment of this form was given up without an answer: the try that failed is taken for that one
 * @param isTyped something stands in the form: while somebody else pays it is not taken away, he may not succeed
 */
export function whileIdle(input: {
  told: SessionState;
  shown: SessionState;
  tryNumber: number;
  mayHaveArrived: boolean;
  isTyped: boolean;
}): IdleStep {
  const { told, shown, tryNumber, mayHaveArrived, isTyped } = input;
  if (!isChanged(told, shown)) return { do: 'ignore' };
  if (told.state === 'processing' && isTyped && !mayHaveArrived) return { do: 'ignore' };
  if (hasComing(told)) {
    const { try: comingTry } = told.coming;
    if (comingTry === tryNumber) return { do: 'take-up', state: told, say: 'nothing' };
    // Somebody else's has failed. Whether one of this form has, too, only the whole page can say.
    return mayHaveArrived ? { do: 'reload' } : { do: 'take-up', state: told, say: 'elsewhere' };
  }
  if (!hasDecline(told)) return { do: 'reload' };
  if (told.decline.try === tryNumber) return { do: 'take-up', state: told, say: 'nothing' };
  return { do: 'take-up', state: told, say: mayHaveArrived ? 'decline' : 'elsewhere' };
}

function hasComing(state: SessionState): state is ComingState {
  return state.state === 'open' && state.coming !== undefined && state.version !== undefined;
}

/**
 * Whether the server would now render something else. `open` and `declined` are both the form, and a payer who is to be
 * verified may have asked for it, too: between these the version decides, where it is known. An older version is an
 * answer that a newer one has overtaken.
 */
export function isChanged(polled: SessionState, shown: SessionState): boolean {
  const bothFree = isFree(polled.state) && isFree(shown.state);
  if (bothFree && polled.version !== undefined && shown.version !== undefined) {
    return isNewer(polled.version, shown.version);
  }
  return polled.state !== shown.state;
}

function isNewer(version: string, known: string): boolean {
  const areNumbers = [version, known].every((one) => /^\d+$/.test(one));
  return areNumbers ? Number(version) > Number(known) : version !== known;
}

function isFree(state: string): boolean {
  return state === 'open' || state === 'declined' || state === 'verification';
}

/** 250 ms at first, growing to 2 s: quick while a bank usually answers, gentle on a phone afterwards. */
export function pollDelayMs(polls: number): number {
  return Math.min(2000, Math.round(250 * 1.4 ** Math.min(polls, 20)));
}

/** A server that tells changes by itself is asked only when it has said nothing for so long. */
export const TOLD_SILENCE_MS = 12_000;
/** A payment that is not decided after this takes longer than usual, and the page says so. */
export const LATE_AFTER_MS = 10_000;

/** The part of sessionStorage that is needed. */
export interface KeyValueStore {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

/**
 * The reference of this session's coming try: made once, kept over reloads until it is answered. A browser that
 * refuses to store anything gets one for as long as the page lives.
 */
export class PaymentReference {
  private readonly key: string;
  private value: string | undefined;
  private isSentUnanswered: boolean;

  constructor(
    private readonly store: KeyValueStore | undefined,
    sessionId: string,
    tryNumber: number,
    private readonly randomUuid: () => string,
  ) {
    this.key = `svc-pay/${sessionId}/${tryNumber}`;
    this.isSentUnanswered = this.isUnanswered();
  }

  get(): string {
    this.value ??= this.attempt((store) => store.getItem(this.key)) ?? this.randomUuid();
    const value = this.value;
    this.attempt((store) => store.setItem(this.key, value));
    return value;
  }

  /** Whether Pay was pressed in an earlier document and its answer never came: after a reload in the middle of it. */
  isUnanswered(): boolean {
    return typeof this.attempt((store) => store.getItem(this.key)) === 'string';
  }

  /**
   * Whether a payment with this reference may have arrived at the server: one that this document sent without an answer, or
   * that an earlier document may have sent. A press whose only answer is a refusal does not count.
   */
  get mayHaveArrived(): boolean {
    return this.isSentUnanswered;
  }

  /** A send had no answer that says what became of it. */
  markUnanswered(): void {
    this.isSentUnanswered = true;
  }

  settle(): void {
    this.value = undefined;
    this.isSentUnanswered = false;
    this.attempt((store) => store.removeItem(this.key));
  }

  private attempt<T>(use: (store: KeyValueStore) => T): T | undefined {
    try {
      return this.store && use(this.store);
    } catch {
      return undefined;
    }
  }
}
