/**
 * `kill -9` between charge and webhook: afterwards every charge has its payment, the ledger agrees, and every merchant has
 * the webhook. First of the services' process, then of PostgreSQL.
 */
import type { CreatedSession } from '@svc/sdk';
import { waitUntil } from '@svc/testing';
import { Books } from './books/books.js';
import type { Interruption } from './books/repeated-posts.js';
import { clientOf, createSessions } from './callers/merchant.js';
import { type Answer, MerchantEndpoint } from './callers/merchant-endpoint.js';
import { type PayRequest, preparePayRequest, resendPayRequest, sendPayRequest } from './callers/payer.js';
import { Platform } from './platform/platform.js';

/** The acquirer charges at once and answers after this time, so that the process dies in between; below its timeout of 8 s. */
const LATENCY_MS = 7_000;
const DIED_BEFORE_THE_ANSWER = 30;
const DIED_BEFORE_THE_WEBHOOK = 12;
const MIN_UNFINISHED = 20;

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

  const preparePayRequests = (sessions: readonly CreatedSession[]): Promise<PayRequest[]> =>
    Promise.all(sessions.map(({ redirectUrl }) => preparePayRequest(redirectUrl)));
  const sendAll = (payRequests: readonly PayRequest[]): Promise<unknown> =>
    Promise.allSettled(payRequests.map((one) => sendPayRequest(platform.demo.gatewayUrl, one)));

  it('of all services between charge and webhook loses and duplicates nothing', async () => {
    const client = clientOf(platform);
    const sessions = await createSessions(client, DIED_BEFORE_THE_WEBHOOK + DIED_BEFORE_THE_ANSWER, endpoint.url);
    const payRequests = await preparePayRequests(sessions);

    // Some payments succeed, and their notifications are sent but unanswered.
    answer = 'hold';
    const paid = payRequests.slice(0, DIED_BEFORE_THE_WEBHOOK);
    await sendAll(paid);
    expect(books.approved()).toHaveLength(DIED_BEFORE_THE_WEBHOOK);
    await waitUntil('a notification on the wire', 20_000, () => Promise.resolve(endpoint.deliveries.length > 0));

    // The others are charged, and the acquirer has not answered yet.
    const lost = sendAll(payRequests.slice(DIED_BEFORE_THE_WEBHOOK));
    await waitUntil('the charges', 20_000, () => Promise.resolve(books.approved().length === payRequests.length));
    const processing = await books.processing();
    const atRisk = books.unacknowledged().length;
    await platform.kill(platform.servicesPid);
    const diedAt = new Date();
    await lost;

    expect(atRisk).toBeGreaterThanOrEqual(MIN_UNFINISHED);
    // Nearly all of them; on a slow machine the recovery job may have queried the first of them by then.
    expect(processing).toBeGreaterThan(0);
    expect((await platform.svc('status')).code).not.toBe(0);

    answer = 200;
    await platform.up();
    // Half of the payers repeat their request, as the page's script does; the others never come back.
    const { gatewayUrl } = platform.demo;
    const again = payRequests.filter((_, index) => index % 2 === 0);
    await Promise.all(
      again.map((one) => waitUntil('an answer to the repeated press', 60_000, () => resendPayRequest(gatewayUrl, one))),
    );
    await books.waitUntilAcknowledged(diedAt);
    await books.expectToAgree(payRequests.length);
    interruptions.push({ from: diedAt, to: diedAt, drainMs: 0 });
    await books.expectPostsToBeJustified(interruptions);
  });

  it('of PostgreSQL under running services loses nothing either', async () => {
    const before = books.approved().length;
    const payRequests = await preparePayRequests(
      await createSessions(clientOf(platform), MIN_UNFINISHED, endpoint.url),
    );
    const answers = sendAll(payRequests);
    await waitUntil('the charges', 20_000, () =>
      Promise.resolve(books.approved().length === before + payRequests.length),
    );
    await platform.kill(platform.postgresPid);
    const diedAt = new Date();
    await answers;

    await platform.up();
    interruptions.push({ from: diedAt, to: new Date(), drainMs: 0 });
    await books.waitUntilAcknowledged(diedAt);
    await books.expectToAgree(before + payRequests.length);
    await books.expectPostsToBeJustified(interruptions);
  });
});
