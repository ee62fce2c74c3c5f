/**
 * Payments on the payment page, each from the address of its payer. An address is the source address of the connections:
 * a loopback address of this machine (127.0.0.0/8), so that the platform need not trust a header.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { CardData } from '@svc/sdk/card';
import { type Dispatcher, Pool } from 'undici';
import {
  buildPayRequest,
  findPageData,
  PAGE_HEADERS,
  readBeginning,
  SCRIPT_HEADERS,
} from '../../payment-page/page-request.ts';
import type { ChallengeSolver } from './challenge-solver.ts';
import {
  type AttemptOutcome,
  type Checkout,
  CONFLICT_STATUS,
  MAX_PRESSES,
  PRESS_PAUSE_MS,
  REFUSED_STATUS,
  type Session,
} from './checkout.ts';

/** HTTP status of an attempt without the solution of a challenge. */
const CHALLENGE_STATUS = 428;
/** HTTP status of an attempt while too many payments of its address are in flight. */
const BUSY_STATUS = 429;
/** Repeats by the page before the payer must press Pay again, and the longest delay after which it repeats. */
const MAX_REPEATS = 10;
const MAX_REPEAT_SECONDS = 5;
/** The challenge becomes harder during an attack, so that a solution may be too easy when it arrives. */
const MAX_SOLUTIONS = 4;
const CONNECTIONS_OF_ADDRESS = 32;
const MAX_VIEWS = 60;
const VIEW_PAUSE_MS = 500;
/** States of the page after an attempt. A session is `refused` after its fifth declined payment. */
const OUTCOMES: Readonly<Record<string, AttemptOutcome>> = {
  succeeded: 'approved',
  declined: 'declined',
  refused: 'declined',
  verification: 'verification',
};

interface PageResponse {
  readonly status: number;
  readonly retryAfterSeconds: number | undefined;
  readonly body: Buffer;
}

/** The connections of all payers. */
export class Browsers {
  private readonly pools = new Map<string, Pool>();
  readonly gatewayUrl: string;

  constructor(gatewayUrl: string) {
    this.gatewayUrl = gatewayUrl;
  }

  async request(address: string, call: Dispatcher.RequestOptions): Promise<PageResponse> {
    let pool = this.pools.get(address);
    if (pool === undefined) {
      const options = { connections: CONNECTIONS_OF_ADDRESS, pipelining: 1, localAddress: address };
      pool = new Pool(this.gatewayUrl, options);
      this.pools.set(address, pool);
    }
    const { statusCode, headers, body } = await pool.request(call);
    const retryAfter = headers['retry-after'];
    return {
      status: statusCode,
      retryAfterSeconds: typeof retryAfter === 'string' ? Number(retryAfter) : undefined,
      body: Buffer.from(await body.arrayBuffer()),
    };
  }

  async close(): Promise<void> {
    await Promise.all([...this.pools.values()].map((pool) => pool.destroy()));
  }
}

/** The payer's browser. */
export interface Browser {
  readonly browsers: Browsers;
  readonly address: string;
  /** Undefined for a program that solves no challenges. */
  readonly solver: ChallengeSolver | undefined;
  /** The value of X-Forwarded-For with which the browser claims to have another address. */
  readonly forgedAddress?: string;
  /**
   * An attacker's program takes the next card of its list instead of waiting until the payments of its address are decided.
   * A payment that waits for 3-D Secure is decided after 15 minutes, so a program that waits for it tests fewer cards.
   */
  readonly isImpatient?: true;
}

export class PageCheckout implements Checkout {
  waits = 0;
  pressesAgain = 0;
  private readonly browser: Browser;
  private readonly session: Session;
  private verificationUrl: string | undefined;

  constructor(browser: Browser, session: Session) {
    this.browser = browser;
    this.session = session;
  }

  /** Opens the page, also for another attempt, and pays. */
  async attempt(card: CardData): Promise<AttemptOutcome> {
    const page = await this.openPage();
    // A page without a form shows the payment whose response was a 409: the payer waits for its outcome.
    if (findPageData(page, 'payment-number') === undefined) return this.awaitOutcome();
    const { status, body } = await this.pay(page, buildPayRequest(page, this.session.sessionId, card));
    const isWaiting = status === CONFLICT_STATUS || (status === BUSY_STATUS && !this.browser.isImpatient);
    if (isWaiting && this.pressesAgain++ < MAX_PRESSES) {
      await pause(PRESS_PAUSE_MS);
      return this.attempt(card);
    }
    // The attempt did not reach the bank.
    if (status === REFUSED_STATUS || status === BUSY_STATUS) return 'refused';
    if (status === CHALLENGE_STATUS) return 'challenged';
    const { state = '', redirectUrl } = JSON.parse(body.toString()) as { state?: string; redirectUrl?: string };
    const outcome = OUTCOMES[state];
    if (outcome === undefined) throw new Error(`The payment was answered ${status}: ${body.toString().slice(0, 300)}`);
    this.verificationUrl = redirectUrl;
    return outcome;
  }

  async confirm(): Promise<AttemptOutcome> {
    await fetch(this.verificationUrl!, {
      method: 'POST',
      body: new URLSearchParams({ answer: 'confirm' }),
      redirect: 'manual',
    });
    // The page finishes the payment when the payer returns. Until the bank has answered, it still asks to verify.
    return this.awaitOutcome(['processing', 'verification']);
  }

  /** Loads the page again while its payment is in one of the states before the outcome. */
  private async awaitOutcome(before: readonly string[] = ['processing']): Promise<AttemptOutcome> {
    for (let views = 1; ; views++) {
      const state = findPageData(await this.openPage(), 'state') ?? '';
      const isDecided = !before.includes(state);
      const outcome = OUTCOMES[state];
      if (isDecided && outcome !== undefined) return outcome;
      if (isDecided || views === MAX_VIEWS) throw new Error(`The page without a form has the state ${state}.`);
      await pause(VIEW_PAUSE_MS);
    }
  }

  private async openPage(): Promise<string> {
    const { pathname, search } = new URL(this.session.redirectUrl);
    const { status, body } = await this.request('GET', pathname + search, PAGE_HEADERS);
    if (status !== 200) throw new Error(`GET ${pathname}: ${status}`);
    return readBeginning(body);
  }

  /** Sends the payment with the solution of the page's challenge, and again if the platform requires another solution. */
  private async pay(page: string, payRequest: object): Promise<PageResponse> {
    const { solver } = this.browser;
    let challenge = findPageData(page, 'challenge');
    for (let solutions = 1; ; solutions++) {
      const solved = solver && challenge !== undefined ? await solver.solve(challenge) : {};
      const response = await this.postUntilDecided({ ...payRequest, ...solved });
      if (response.status !== CHALLENGE_STATUS || solver === undefined || solutions === MAX_SOLUTIONS) return response;
      const next = await this.post('challenges', undefined);
      ({ challenge } = JSON.parse(next.body.toString()) as { challenge?: string });
    }
  }

  /** Repeats the request as the page does while other payments of the address are in flight. */
  private async postUntilDecided(request: object): Promise<PageResponse> {
    for (let repeats = 0; ; repeats++) {
      const response = await this.post('payments', request);
      const { status, retryAfterSeconds = Infinity } = response;
      if (status !== BUSY_STATUS || this.browser.isImpatient) return response;
      if (retryAfterSeconds > MAX_REPEAT_SECONDS || repeats === MAX_REPEATS) return response;
      this.waits++;
      await pause((retryAfterSeconds + Math.random()) * 1_000);
    }
  }

  private post(call: 'payments' | 'challenges', body: object | undefined): Promise<PageResponse> {
    const { origin } = new URL(this.browser.browsers.gatewayUrl);
    const { 'content-type': contentType, ...headers } = SCRIPT_HEADERS;
    return this.request(
      'POST',
      `/pay/${this.session.sessionId}/${call}`,
      { ...headers, origin, ...(body ? { 'content-type': contentType } : {}) },
      body && JSON.stringify(body),
    );
  }

  private request(
    method: 'GET' | 'POST',
    path: string,
    headers: Readonly<Record<string, string>>,
    body?: string,
  ): Promise<PageResponse> {
    const { browsers, address, forgedAddress } = this.browser;
    const forged = forgedAddress === undefined ? {} : { 'x-forwarded-for': forgedAddress };
    return browsers.request(address, { method, path, headers: { ...headers, ...forged }, body: body ?? null });
  }
}
