import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { EmbeddedBroker } from '@svc/messaging';
import { startService } from '@svc/service';
import { waitUntil } from '@svc/testing';
import { DISPATCHER_ENV, DispatcherUnderTest } from '../../test/dispatcher.js';
import { Receiver } from '../../test/receiver.js';
import { webhookDispatcherService } from '../index.js';

/** Number of working endpoints. Endpoint n belongs to merchant n. */
const ENDPOINTS = 100;
/** The id of the merchant whose endpoints fail. */
const FAILING_MERCHANT = 101;
/** Interval between two notifications of a measurement. */
const INTERVAL_MS = 10;
/** Number of notifications of one measurement, and of the warm-up before it. */
const [NOTIFICATIONS, WARM_UP] = [300, 100];

let dispatcher: DispatcherUnderTest;
let receivers: Receiver[];

beforeAll(async () => {
  dispatcher = await DispatcherUnderTest.start();
  for (let merchantId = 1; merchantId <= FAILING_MERCHANT; merchantId++)
    await dispatcher.deliverDefaultSecrets(merchantId);
  receivers = await Promise.all(Array.from({ length: ENDPOINTS }, () => Receiver.start()));
});
afterAll(async () => {
  await Promise.all(receivers.map((receiver) => receiver.stop()));
  await dispatcher.test.stop();
});

/**
 * Starts the service with the loop of its worker. The retry schedule uses the clock of the test. The timeouts of
 * requests use real time.
 */
async function startLoop(): Promise<{
  publishPayment: (merchantId: number, url: string) => Promise<string>;
  stop: () => Promise<void>;
}> {
  const { url } = dispatcher.test.dataSource.options as { url: string };
  const base = { SVC_ENVIRONMENT: 'development', SVC_LOG_LEVEL: 'silent', SVC_DATABASE_URL: url, ...DISPATCHER_ENV };
  const broker = new EmbeddedBroker();
  const env = {
    ...base,
    SVC_DELIVERY: 'on',
    SVC_DELIVERY_CONCURRENCY: '50',
    SVC_DELIVERY_TIMEOUT_MS: '3000',
    SVC_DELIVERY_DRAIN_MS: '0',
  };
  const service = await startService(webhookDispatcherService, { env, broker, clock: dispatcher.clock });
  return {
    publishPayment: async (merchantId, notificationUrl) => {
      const payment = { ...dispatcher.newPayment(notificationUrl), merchantId };
      await broker.targets()[0]!.deliver([dispatcher.finalPaymentEvent(payment)]);
      return payment.paymentReference;
    },
    stop: () => service.close(),
  };
}

/**
 * Sends notifications to a hundred working endpoints in turn, at a fixed rate. If there are `failingUrls`, every fifth
 * notification is sent to one of them instead. For each notification to a working endpoint, measures the milliseconds
 * from its event to its arrival. Returns these times, sorted.
 */
async function measureLatencies(failingUrls: readonly string[], count = NOTIFICATIONS): Promise<number[]> {
  const { publishPayment, stop } = await startLoop();
  const arrivedAt = new Map<string, number>();
  for (const receiver of receivers)
    receiver.setBehaviours((response, { body }) => {
      arrivedAt.set((JSON.parse(body) as { paymentReference: string }).paymentReference, performance.now());
      response.writeHead(204).end();
    });
  const publishedAt = new Map<string, number>();
  const publishing: Promise<unknown>[] = [];
  // From the beginning, the failing endpoints have more due notifications than the worker has permits.
  for (let i = 0; i < 20; i++) await Promise.all(failingUrls.map((url) => publishPayment(FAILING_MERCHANT, url)));
  const startedAt = performance.now();
  let publishedCount = 0;
  await waitUntil('all events', 60_000, async () => {
    for (; publishedCount < count && performance.now() >= startedAt + publishedCount * INTERVAL_MS; publishedCount++) {
      const at = performance.now();
      const failingUrl = publishedCount % 5 === 0 ? failingUrls[(publishedCount / 5) % failingUrls.length] : undefined;
      const merchantId = (publishedCount % ENDPOINTS) + 1;
      if (failingUrl !== undefined) publishing.push(publishPayment(FAILING_MERCHANT, failingUrl));
      else
        publishing.push(
          publishPayment(merchantId, receivers[merchantId - 1]!.url).then((reference) =>
            publishedAt.set(reference, at),
          ),
        );
    }
    return publishedCount === count;
  });
  await Promise.all(publishing);
  await waitUntil('all arrivals', 30_000, async () =>
    [...publishedAt.keys()].every((reference) => arrivedAt.has(reference)),
  );
  await stop();
  return [...publishedAt].map(([reference, at]) => arrivedAt.get(reference)! - at).toSorted((a, b) => a - b);
}

const percentile = (sorted: number[], share: number): number => sorted[Math.ceil(sorted.length * share) - 1]!;

async function startListening(server: Server): Promise<string> {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`;
}

test('a merchant whose endpoints do not respond does not slow down a hundred other merchants', async () => {
  // Six servers accept connections and never respond. The seventh is stopped, so its connections are refused.
  const hanging: Socket[] = [];
  const servers = Array.from({ length: 7 }, () =>
    createServer((socket) => void hanging.push(socket.on('error', () => undefined))),
  );
  const urls = await Promise.all(servers.map(startListening));
  await new Promise((closed) => servers.at(-1)!.close(closed));

  await measureLatencies([], WARM_UP);
  const latenciesAlone = await measureLatencies([]);
  const latenciesBesideFailing = await measureLatencies(urls);
  for (const socket of hanging) socket.destroy();
  for (const server of servers) server.close();

  const figures = [latenciesAlone, latenciesBesideFailing].map((sorted) =>
    [0.5, 0.99, 1].map((share) => Math.round(percentile(sorted, share))),
  );
  process.stdout.write(
    `webhook latency p50 / p99 / max in ms: without failing endpoints ${figures[0]!.join(' / ')}, ` +
      `with failing endpoints ${figures[1]!.join(' / ')}\n`,
  );
  // A notification that waited for a hanging request would take at least its timeout of 3 000 ms.
  expect(percentile(latenciesBesideFailing, 0.99) - percentile(latenciesAlone, 0.99)).toBeLessThan(1_500);
});
