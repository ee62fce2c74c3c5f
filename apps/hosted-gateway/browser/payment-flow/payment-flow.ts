/**
 * Pure decisions about the next step of the page. The main rule: once the payer has pressed Pay, only a state from
 * the server ends the wait. A lost response is not a failed payment, so the form never comes back on a guess, and
 * every retry has the same `reference` and is therefore the same payment (C7).
 */

/** A session's state from the server. */
export interface SessionState {
  state: string;
  /** Converted to text; it may be a number on the wire. */
  version?: string | undefined;
  /** Expiry of the form; ISO 8601 UTC. */
  expiresAt?: string;
  /** After a failed attempt: the texts of the form. */
  decline?: DeclinedAttempt | undefined;
  /** Of an open form: its next attempt, which changes after another payer's attempt has failed. */
  coming?: NextAttempt | undefined;
}

export interface NextAttempt {
  try: number;
  /** Text with the number of attempts left. */
  triesLeft: string;
}

/** The texts are from the server. */
export interface DeclinedAttempt extends NextAttempt {
  title: string;
  next: string;
  /** Text with the payment reference. */
  reference?: string;
  /** The field that the bank did not accept, if known. */
  field?: string;
}

/** A declined state with all data that the form needs to continue without a reload. */
export type DeclinedState = SessionState & { decline: DeclinedAttempt };

/** An open state with the number of its next attempt. */
export type NextAttemptState = SessionState & { coming: NextAttempt };

export type PostResult =
  | {
      kind: 'answered';
      httpStatus: number;
      state?: string;
      message?: string;
      redirectUrl?: string;
      received?: SessionState;
    }
  /** `neverSent`: the browser was offline and sent nothing. Otherwise the request may have arrived. */
  | { kind: 'unreachable'; neverSent?: boolean };

/** Whether the server has this payment. `elsewhere`: another payer's payment is in progress. */
export type Sent = 'yes' | 'unknown' | 'no' | 'elsewhere';

export type NextStep =
  /** The server renders the current state. */
  | { do: 'reload' }
  /** The same form for the next attempt, with the input except the CVV. */
  | { do: 'next-attempt'; state: DeclinedState }
  /** To the bank's page, which redirects back. */
  | { do: 'leave'; to: string }
  /** Poll the state. */
  | { do: 'poll'; sent: Sent }
  | Correction;

/** The form again, with the server's message or one of the page. */
export interface Correction {
  do: 'correct';
  message?: string;
  problem: 'refused' | 'tooMany' | 'notSent';
}

/** After `POST …/payments`. */
export function afterPost(outcome: PostResult): NextStep {
  if (outcome.kind === 'unreachable') return { do: 'poll', sent: outcome.neverSent === true ? 'no' : 'unknown' };
  const { httpStatus, state, message, redirectUrl, received } = outcome;
  if (httpStatus >= 200 && httpStatus < 300) {
    if (received && hasDecline(received)) return { do: 'next-attempt', state: received };
    if (state === 'verification' && isWebAddress(redirectUrl)) return { do: 'leave', to: redirectUrl };
    // The response is from a proxy: the payment may or may not have reached the gateway.
    if (state === undefined) return { do: 'poll', sent: 'unknown' };
    return state === 'processing' ? { do: 'poll', sent: 'yes' } : { do: 'reload' };
  }
  // Another payment of this session is in progress, perhaps from another tab of this payer.
  if (httpStatus === 409) return { do: 'poll', sent: 'elsewhere' };
  if (httpStatus === 402 || httpStatus === 404 || httpStatus === 410) return { do: 'reload' };
  if (httpStatus === 429) return { do: 'correct', problem: 'tooMany' };
  if (httpStatus >= 400 && httpStatus < 500 && httpStatus !== 408) {
    return { do: 'correct', problem: 'refused', ...(message === undefined ? {} : { message }) };
  }
  return { do: 'poll', sent: 'unknown' };
}

/**
 * After `correct`, with the state that was then fetched. If the page is outdated, the payer needs the
 * new one. A rejection is about one send only: if an earlier send may have arrived, neither the rejection nor an open
 * session proves that nothing is charged, so the message must not claim it.
 *
 * @param current undefined if the server did not respond
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

/** Only http(s): an address such as `javascript:` would be executed. */
function isWebAddress(address: string | undefined): address is string {
  return address !== undefined && /^https?:\/\//i.test(address);
}

/** Whether the form can continue with the next attempt. */
export function hasDecline(state: SessionState): state is DeclinedState {
  return state.state === 'declined' && state.decline !== undefined && state.version !== undefined;
}

/**
 * Whether this response settles a reference: then a later press of Pay is a new payment.
 *
 * @param mayHaveArrived an earlier send of the reference may have arrived: then the bank may approve it despite this 400
 */
export function settlesReference(outcome: PostResult, mayHaveArrived: boolean): boolean {
  if (outcome.kind === 'unreachable') return false;
  const { httpStatus, state } = outcome;
  if (httpStatus === 400) return !mayHaveArrived;
  return (httpStatus >= 200 && httpStatus < 300 && state !== undefined) || httpStatus === 402;
}

/** Whether a POST without a response was never sent: the browser was offline at the start, at the end, and all the time in between. */
export function wasNeverSent(network: { wasOffline: boolean; cameOnline: boolean; isOffline: boolean }): boolean {
  return network.wasOffline && !network.cameOnline && network.isOffline;
}

/**
 * The event that the page waits for while it polls. `answer`: the POST is in flight. `no`: for a network, nothing was sent yet.
 * `interrupted`: for a payment that was sent before a reload.
 */
export type Waiting = 'answer' | 'yes' | 'unknown' | 'no' | 'elsewhere' | 'interrupted';

/** The event that the page waits for after a send. If an earlier send may have arrived, the payment never counts as unsent. */
export function waitingAfterSend(sent: Sent, mayHaveArrived: boolean): Sent {
  return sent === 'no' && mayHaveArrived ? 'unknown' : sent;
}

/** Whether the page must now show that the bank processes the payment. Before, it showed "sending" or "offline". */
export function isNewlyProcessing(polled: SessionState, waiting: Waiting): boolean {
  return polled.state === 'processing' && (waiting === 'answer' || waiting === 'no');
}

export type PollStep = 'wait' | 'reload' | 'send-again' | 'restore-form';

/** Limit of sends of an unanswered payment before the form comes back. */
export const MAX_SENDS = 4;
/** After this many unchanged polls, the payment of another payer counts as over. */
const ELSEWHERE_POLLS = 4;
/** After this many unchanged polls, a payment interrupted by a reload counts as not sent: the server would have received it by then. */
const INTERRUPTED_POLLS = 4;

/**
 * After a poll.
 *
 * @param shown the state that this document shows
 * @param unchangedPolls number of consecutive polls that returned `shown`, including this one
 * @param sends number of sends of the payment
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
  if (waiting === 'interrupted') return input.unchangedPolls >= INTERRUPTED_POLLS ? 'restore-form' : 'wait';
  if (waiting === 'elsewhere') return input.unchangedPolls >= ELSEWHERE_POLLS ? 'reload' : 'wait';
  // The server has responded, so the network is back. A send without a network does not count.
  if (waiting === 'no') return 'send-again';
  if (waiting === 'unknown') return input.sends < MAX_SENDS ? 'send-again' : 'restore-form';
  return 'wait';
}

export type IdleStep =
  | { do: 'ignore' }
  | { do: 'reload' }
  /** The same form for the next attempt. `say`: whose attempt has failed, or nothing if the form already offers this attempt. */
  | { do: 'apply-state'; state: DeclinedState; say: 'decline' | 'elsewhere' | 'nothing' }
  | { do: 'apply-state'; state: NextAttemptState; say: 'elsewhere' | 'nothing' };

/**
 * After a new state arrived while the form waited for the payer.
 *
 * @param tryNumber number of the attempt that the form offers
 * @param mayHaveArrived a payment of this form got no response: the failed attempt is assumed to be that one
 * @param isTyped the form is not empty: it stays while another payer pays, whose payment may fail
 */
export function whileIdle(input: {
  received: SessionState;
  shown: SessionState;
  tryNumber: number;
  mayHaveArrived: boolean;
  isTyped: boolean;
}): IdleStep {
  const { received, shown, tryNumber, mayHaveArrived, isTyped } = input;
  if (!isChanged(received, shown)) return { do: 'ignore' };
  if (received.state === 'processing' && isTyped && !mayHaveArrived) return { do: 'ignore' };
  if (hasNextAttempt(received)) {
    const { try: comingTry } = received.coming;
    if (comingTry === tryNumber) return { do: 'apply-state', state: received, say: 'nothing' };
    // Another payer's attempt has failed. Only a reload shows whether one of this form has failed too.
    return mayHaveArrived ? { do: 'reload' } : { do: 'apply-state', state: received, say: 'elsewhere' };
  }
  if (!hasDecline(received)) return { do: 'reload' };
  if (received.decline.try === tryNumber) return { do: 'apply-state', state: received, say: 'nothing' };
  return { do: 'apply-state', state: received, say: mayHaveArrived ? 'decline' : 'elsewhere' };
}

function hasNextAttempt(state: SessionState): state is NextAttemptState {
  return state.state === 'open' && state.coming !== undefined && state.version !== undefined;
}

/**
 * Whether the server would now render another page. `open`, `declined` and (with another card) `verification` can all show the
 * form: among these the version decides, if known. A response with an older version is
 * outdated.
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

/** 250 ms at first, growing to 2 s: fast while banks usually respond, then slower to save a phone's battery. */
export function pollDelayMs(polls: number): number {
  return Math.min(2000, Math.round(250 * 1.4 ** Math.min(polls, 20)));
}

/** With an open stream, the page polls only after this time without an event. */
export const STREAM_SILENCE_MS = 12_000;
/** After this time without a result the page says that the payment takes longer than usual. */
export const LATE_AFTER_MS = 10_000;

/** The methods of sessionStorage that are used. */
export interface KeyValueStore {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

/**
 * The payment reference of the next attempt. Created once and kept across reloads until the server responds. Without
 * storage it lives as long as the document.
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

  /** Whether the payer pressed Pay before a reload and the response never came. */
  isUnanswered(): boolean {
    return typeof this.attempt((store) => store.getItem(this.key)) === 'string';
  }

  /**
   * Whether a payment with this reference may have arrived at the server: this document sent it without a response, or
   * an earlier document may have sent it. A press whose only response is a rejection does not count.
   */
  get mayHaveArrived(): boolean {
    return this.isSentUnanswered;
  }

  /** A send got no response with its result. */
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
