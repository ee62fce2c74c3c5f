import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { HostedPaymentSnapshot } from '@svc/contracts';
import { EmbeddedBroker } from '@svc/messaging';
import { startService } from '@svc/service';
import { waitUntil } from '@svc/testing';
import { DISPATCHER_ENV, DispatcherUnderTest } from '../../test/dispatcher.js';
import { webhookDispatcherService } from '../index.js';

/** Number of notifications. For a longer test, run `SVC_TEST_BACKLOG=100000 npx jest backlog` manually. */
const BACKLOG = Number(process.env['SVC_TEST_BACKLOG'] ?? 4_000);
/** The default number of requests that the worker may have in flight. */
const CONCURRENCY = 200;
const BACKLOG_MERCHANTS = 20;
/** The id of the only merchant without a backlog. The merchants with a backlog have the ids 1 to 20. */
const MERCHANT_WITHOUT_BACKLOG = BACKLOG_MERCHANTS + 1;

let dispatcher: DispatcherUnderTest;
let servers: Server[];
/** Number of requests that were received with each webhook-id. */
const receivedCounts = new Map<string, number>();
/** Time at which each payment was received, by its paymentReference. */
const arrivedAt = new Map<string, number>();

beforeAll(async () => {
  dispatcher = await DispatcherUnderTest.start();
  for (let merchantId = 1; merchantId <= MERCHANT_WITHOUT_BACKLOG; merchantId++)
    await dispatcher.deliverDefaultSecrets(merchantId);
  servers = await Promise.all(Array.from({ length: MERCHANT_WITHOUT_BACKLOG }, startEndpoint));
});
afterAll(async () => {
  for (const server of servers) {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  }
  await dispatcher.test.stop();
});

async function startEndpoint(): Promise<Server> {
  const server = createServer((request, response) => {
    const id = String(request.headers['webhook-id']);
    receivedCounts.set(id, (receivedCounts.get(id) ?? 0) + 1);
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      if (isMeasuring)
        arrivedAt.set((JSON.parse(body) as { paymentReference: string }).paymentReference, performance.now());
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return server;
}
let isMeasuring = false;

function paymentTo(merchantId: number): HostedPaymentSnapshot {
  const { port } = servers[merchantId - 1]!.address() as AddressInfo;
  return { ...dispatcher.newPayment(`http://127.0.0.1:${port}/hooks`), merchantId };
}

const countNotifications = async (where: string): Promise<number> => {
  const [row] = await dispatcher.test.dataSource.query<{ count: number }[]>(
    `SELECT count(*)::int AS count FROM notifications WHERE ${where}`,
  );
  return row!.count;
};

const percentile = (values: number[], share: number): number =>
  Math.round(values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1]!);

test('each notification of a backlog is sent once, and new notifications do not wait for the backlog', async () => {
  for (let createdCount = 0; createdCount < BACKLOG; createdCount += 500) {
    // Merchant 1 gets every second notification. All merchants with a backlog share the rest equally.
    await dispatcher.deliverPayments(
      ...Array.from({ length: 500 }, (_, i) =>
        paymentTo(i % 2 === 0 ? 1 : 1 + (((createdCount + i) >> 1) % BACKLOG_MERCHANTS)),
      ),
    );
  }
  dispatcher.clock.advance(60_000);
  isMeasuring = true;

  const { url } = dispatcher.test.dataSource.options as { url: string };
  const base = { SVC_ENVIRONMENT: 'development', SVC_LOG_LEVEL: 'silent', SVC_DATABASE_URL: url, ...DISPATCHER_ENV };
  const broker = new EmbeddedBroker();
  const rssBefore = process.memoryUsage().rss;
  let maxRss = rssBefore;
  let maxLeased = 0;
  const startedAt = performance.now();
  const service = await startService(webhookDispatcherService, {
    env: { ...base, SVC_DELIVERY: 'on', SVC_DELIVERY_CONCURRENCY: String(CONCURRENCY) },
    broker,
    clock: dispatcher.clock,
  });

  const publishedAt = new Map<string, { at: number; merchantId: number }>();
  let publishedCount = 0;
  await waitUntil('the backlog to drain', 600_000, async () => {
    maxRss = Math.max(maxRss, process.memoryUsage().rss);
    // After the first leases were found, counts them only in every 50th round.
    if (maxLeased === 0 || publishedCount % 50 === 10)
      maxLeased = Math.max(maxLeased, await countNotifications(`state = 'pending' AND lease_id IS NOT NULL`));
    // The new payments belong in turn to the merchant without a backlog and to a merchant with a backlog.
    const merchantId =
      publishedCount++ % 2 === 0 ? MERCHANT_WITHOUT_BACKLOG : 1 + ((publishedCount >> 1) % BACKLOG_MERCHANTS);
    const payment = paymentTo(merchantId);
    publishedAt.set(payment.paymentReference, { at: performance.now(), merchantId });
    await broker.targets()[0]!.deliver([dispatcher.finalPaymentEvent(payment)]);
    // The last 20 notifications may still be in flight.
    return receivedCounts.size >= BACKLOG + publishedAt.size - 20;
  });
  const seconds = (performance.now() - startedAt) / 1000;
  await waitUntil('the last results', 30_000, async () => (await countNotifications(`state = 'pending'`)) === 0);
  await service.close();

  const latencies = (withoutBacklog: boolean): number[] =>
    [...publishedAt]
      .filter(([, { merchantId }]) => (merchantId === MERCHANT_WITHOUT_BACKLOG) === withoutBacklog)
      .map(([reference, { at }]) => arrivedAt.get(reference)! - at);
  process.stdout.write(
    `backlog of ${BACKLOG} sent in ${seconds.toFixed(1)} s, ${Math.round(receivedCounts.size / seconds)} a second; ` +
      `latency of new notifications, p50 / p99 in ms: of the merchant without a backlog ` +
      `${percentile(latencies(true), 0.5)} / ${percentile(latencies(true), 0.99)}, of merchants with a backlog ` +
      `${percentile(latencies(false), 0.5)} / ${percentile(latencies(false), 0.99)}; ` +
      `memory increased by ${Math.round((maxRss - rssBefore) / 2 ** 20)} MB\n`,
  );
  expect(receivedCounts.size).toBe(BACKLOG + publishedAt.size);
  expect(new Set(receivedCounts.values())).toEqual(new Set([1]));
  expect(await countNotifications(`state = 'delivered' AND attempt_count = 1`)).toBe(BACKLOG + publishedAt.size);
  // If new notifications waited for the backlog, most of them would wait nearly until the whole backlog is sent.
  expect(percentile([...latencies(true), ...latencies(false)], 0.99)).toBeLessThan((seconds * 1000) / 2);
  // Regardless of the size of the backlog, the worker leases only as many notifications as it can send or record.
  expect(maxLeased).toBeGreaterThan(0);
  expect(maxLeased).toBeLessThanOrEqual(2 * CONCURRENCY);
}, 900_000);
