/**
 * `kill -9` while money is between charge and webhook: afterwards every charge has its payment, the ledger agrees,
 * and every merchant has heard. First of the services' process, then of PostgreSQL under them.
 */
import type { CreatedSession } from '@svc/sdk';
import { waitUntil } from '@svc/testing';
import { Books } from './books/books.js';
import { clientOf, createSessions } from './callers/merchant.js';
import { type Answer, MerchantEndpoint } from './callers/merchant-endpoint.js';
import { fillIn, press, pressAgain, type PressOfPay } from './callers/payer.js';
import { Platform } from './platform/platform.js';
import type { Interruption } from './books/repeated-posts.js';

/** The bank charges at once and answers this late, so that the process dies in between; below its time limit of 8 s. */
const LATENCY_MS = 7_000;
const DIED_BEFORE_THE_ANSWER = 30;
const DIED_BEFORE_THE_WEBHOOK = 12;
const AT_LEAST_UNDER_WAY = 20;

describe('kill -9', () => {
  let platform: Platform;
  let endpoint: MerchantEndpoint;
  let books: Books;
  let answer: Answer;
  /** Of the dispatcher, so far. */
  const interruptions: Interruption[] = [];

  beforeAll(async () => {
    platform = await Platform.start('kill', { SVC_ACQUIRER_LATENCY_MS: String(LATENCY_MS) });
    endpoint = await MerchantEndpoint.start(platform.site(0, 0).webhookSecret, () => answer);
    books = new Books(platform, endpoint);
  });
  afterAll(async () => {
    await platform?.stop();
    await endpoint?.stop();
  });

  const fillInAll = (sessions: readonly CreatedSession[]): Promise<PressOfPay[]> =>
    Promise.all(sessions.map(({ redirectUrl }) => fillIn(redirectUrl)));
  const pressAll = (presses: readonly PressOfPay[]): Promise<unknown> =>
    Promise.allSettled(presses.map((one) => press(platform.demo.gatewayUrl, one)));

  it('of all services between charge and webhook loses nothing and doubles nothing', async () => {
    const client = clientOf(platform);
    const sessions = await createSessions(client, DIED_BEFORE_THE_WEBHOOK + DIED_BEFORE_THE_ANSWER, endpoint.url);
    const presses = await fillInAll(sessions);

    // Some are paid, and their notifications are on the wire without an answer.
    answer = 'hold';
    const paid = presses.slice(0, DIED_BEFORE_THE_WEBHOOK);
    await pressAll(paid);
    expect(books.approved()).toHaveLength(DIED_BEFORE_THE_WEBHOOK);
    await waitUntil('a notification on the wire', 20_000, () => Promise.resolve(endpoint.deliveries.length > 0));

    // The others are charged, and the bank's answer is still on its way.
    const lost = pressAll(presses.slice(DIED_BEFORE_THE_WEBHOOK));
    await waitUntil('the charges', 20_000, () => Promise.resolve(books.approved().length === presses.length));
    const processing = await books.processing();
    const atRisk = books.underWay().length;
    await platform.kill(platform.servicesPid);
    const diedAt = new Date();
    await lost;

    expect(atRisk).toBeGreaterThanOrEqual(AT_LEAST_UNDER_WAY);
    // Nearly all of them; on a slow machine the recovery job may have asked about the first of them by then.
    expect(processing).toBeGreaterThan(0);
    expect((await platform.svc('status')).code).not.toBe(0);

    answer = 200;
    await platform.up();
    // Half of the payers press again, as the page's script does; of the others nobody ever hears again.
    const { gatewayUrl } = platform.demo;
    const again = presses.filter((_, index) => index % 2 === 0);
    await Promise.all(
      again.map((one) => waitUntil('an answer to the repeated press', 60_000, () => pressAgain(gatewayUrl, one))),
    );
    await books.everyoneHasHeard(diedAt);
    await books.expectToAgree(presses.length);
    interruptions.push({ from: diedAt, to: diedAt, drainMs: 0 });
    await books.expectPostsToBeJustified(interruptions);
  });

  it('of PostgreSQL under running services loses nothing either', async () => {
    const before = books.approved().length;
    const presses = await fillInAll(await createSessions(clientOf(platform), AT_LEAST_UNDER_WAY, endpoint.url));
    const pressed = pressAll(presses);
    await waitUntil('the charges', 20_000, () => Promise.resolve(books.approved().length === before + presses.length));
    await platform.kill(platform.postgresPid);
    const diedAt = new Date();
    await pressed;

    await platform.up();
    interruptions.push({ from: diedAt, to: new Date(), drainMs: 0 });
    await books.everyoneHasHeard(diedAt);
    await books.expectToAgree(before + presses.length);
    await books.expectPostsToBeJustified(interruptions);
  });
});
