/**
 * The time from a payment's outcome to the merchant's webhook with one replica and with three replicas of each service.
 * Only one replica relays the events of a service, so most payments are committed in a replica that does not relay.
 *
 * Prints both results, for docs/performance.md.
 */
import { waitUntil } from '@svc/testing';
import { gatewayClient, newSessionRequest } from './callers/merchant.js';
import { MerchantEndpoint } from './callers/merchant-endpoint.js';
import { preparePayRequest, sendPayRequest } from './callers/payer.js';
import { Platform } from './platform/platform.js';
import { ServiceReplica } from './platform/service-replica.js';

const PAYMENTS = 40;
/** The services between a payment and its webhook. */
const SERVICES = ['payment-processor', 'webhook-dispatcher'] as const;
/** Half the time between two polls of a relay that is not woken. */
const MISSED_WAKE_UP_MS = 250;

let platform: Platform;
let endpoint: MerchantEndpoint;
const replicas: ServiceReplica[] = [];
/** Time of the first delivery of each payment, by session. */
const deliveredAt = new Map<string, number>();

beforeAll(async () => {
  platform = await Platform.start('replicas', {}, 'distributed');
  endpoint = await MerchantEndpoint.start(platform.site(0, 0).webhookSecret, ({ payment }) => {
    deliveredAt.set(String(payment.sessionId), performance.now());
    return 200;
  });
});
afterAll(async () => {
  for (const replica of replicas) await replica.end();
  await platform?.stop();
  await endpoint?.stop();
});

/** Pays once, and returns the milliseconds from the response to the webhook. Negative times count as 0. */
async function payOnce(): Promise<number> {
  const { sessionId, redirectUrl } = await gatewayClient(platform).createSession(newSessionRequest(endpoint.url));
  const request = await preparePayRequest(redirectUrl);
  const { state } = await sendPayRequest(platform.demo.gatewayUrl, request);
  const paidAt = performance.now();
  expect(state).toBe('succeeded');
  await waitUntil('the webhook', 20_000, () => Promise.resolve(deliveredAt.has(sessionId)));
  return Math.max(0, deliveredAt.get(sessionId)! - paidAt);
}

async function measure(name: string): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < PAYMENTS; i++) times.push(await payOnce());
  times.sort((a, b) => a - b);
  const percentile = (share: number): number => times[Math.ceil(share * times.length) - 1]!;
  const [median, p95] = [percentile(0.5), percentile(0.95)];
  process.stdout.write(`${name}: outcome → webhook ${median.toFixed(0)} ms (p50), ${p95.toFixed(0)} ms (p95)\n`);
  return median;
}

it('a webhook does not wait for a poll of another replica', async () => {
  await measure('warm-up');
  const alone = await measure('one replica');
  for (const service of SERVICES)
    for (let more = 0; more < 2; more++) replicas.push(await ServiceReplica.start(platform, service));
  const withReplicas = await measure('three replicas');
  expect(withReplicas - alone).toBeLessThan(MISSED_WAKE_UP_MS / 2);
});
