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
}

export type PostOutcome =
  | { kind: 'answered'; httpStatus: number; state?: string; message?: string; redirectUrl?: string }
  | { kind: 'unreachable' };

export type NextStep =
  /** The server renders the truth. */
  | { do: 'reload' }
  /** To the bank's own page, which leads back. */
  | { do: 'leave'; to: string }
  /** Keep asking. `sent`: whether the server is known to have the payment, or somebody else's. */
  | { do: 'poll'; sent: 'yes' | 'unknown' | 'elsewhere' }
  /** The form again, with the server's words or with our own. */
  | { do: 'correct'; message?: string; problem: 'refused' | 'tooMany' };

/** After `POST …/payments`. */
export function afterPost(outcome: PostOutcome): NextStep {
  if (outcome.kind === 'unreachable') return { do: 'poll', sent: 'unknown' };
  const { httpStatus, state, message, redirectUrl } = outcome;
  if (httpStatus >= 200 && httpStatus < 300) {
    if (state === 'verification' && isWebAddress(redirectUrl)) return { do: 'leave', to: redirectUrl };
    return state === undefined || state === 'processing' ? { do: 'poll', sent: 'yes' } : { do: 'reload' };
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

/** An address of another kind would be run, not opened. */
function isWebAddress(address: string | undefined): address is string {
  return address !== undefined && /^https?:\/\//i.test(address);
}

/** Whether this answer settles a reference: a later press of Pay is then another payment. */
export function settlesReference(outcome: PostOutcome): boolean {
  if (outcome.kind === 'unreachable') return false;
  return (outcome.httpStatus >= 200 && outcome.httpStatus < 300) || [400, 402].includes(outcome.httpStatus);
}

/**
 * What the page waits for while it polls; `answer`: the POST is still under way; `interrupted`: it was sent by the
 * document before this one, which was left before the answer came.
 */
export type Waiting = 'answer' | 'yes' | 'unknown' | 'elsewhere' | 'interrupted';

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
  if (waiting === 'unknown') return input.sends < MAX_SENDS ? 'send-again' : 'give-back';
  return 'wait';
}

/**
 * Whether the server would now render something else. `open` and `declined` are both the form, and a payer who is to be
 * verified may have asked for it, too: between these the version decides, where it is known.
 */
export function isChanged(polled: SessionState, shown: SessionState): boolean {
  const bothFree = isFree(polled.state) && isFree(shown.state);
  if (bothFree && polled.version !== undefined && shown.version !== undefined) {
    return polled.version !== shown.version;
  }
  return polled.state !== shown.state;
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

  constructor(
    private readonly store: KeyValueStore | undefined,
    sessionId: string,
    tryNumber: number,
    private readonly randomUuid: () => string,
  ) {
    this.key = `svc-pay/${sessionId}/${tryNumber}`;
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

  settle(): void {
    this.value = undefined;
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
