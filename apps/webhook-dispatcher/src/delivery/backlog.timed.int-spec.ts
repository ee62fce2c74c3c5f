import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { HostedPaymentSnapshot } from '@svc/contracts';
import { EmbeddedBroker } from '@svc/messaging';
import { startService } from '@svc/service';
import { waitUntil } from '@svc/testing';
import { DISPATCHER_ENV, DispatcherUnderTest } from '../../test/dispatcher.js';
import { webhookDispatcherService } from '../index.js';

/** Run manually with a hundred thousand: `SVC_TEST_BACKLOG=100000 npx jest backlog`. */
const BACKLOG = Number(process.env['SVC_TEST_BACKLOG'] ?? 4_000);
/** Slots of the worker, as by default. */
const CONCURRENCY = 200;
const MERCHANTS = 20;
/** A merchant without a backlog. */
const QUIET = MERCHANTS + 1;

let dispatcher: DispatcherUnderTest;
let servers: Server[];
/** How often each id arrived, over all merchants, and when each payment arrived first. */
const timesReceived = new Map<string, number>();
const arrivedAt = new Map<string, number>();

beforeAll(async () => {
  dispatcher = await DispatcherUnderTest.start();
  for (let merchantId = 1; merchantId <= QUIET; merchantId++) await dispatcher.deliverDefaultSecrets(merchantId);
  servers = await Promise.all(Array.from({ length: QUIET }, endpoint));
});
afterAll(async () => {
  for (const server of servers) {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  }
  await dispatcher.test.stop();
});

async function endpoint(): Promise<Server> {
  const server = createServer((request, response) => {
    const id = String(request.headers['webhook-id']);
    timesReceived.set(id, (timesReceived.get(id) ?? 0) + 1);
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      if (measured)
        arrivedAt.set((JSON.parse(body) as { paymentReference: string }).paymentReference, performance.now());
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return server;
}
let measured = false;

function paymentTo(merchantId: number): HostedPaymentSnapshot {
  const { port } = servers[merchantId - 1]!.address() as AddressInfo;
  return { ...dispatcher.newPayment(`http://127.0.0.1:${port}/hooks`), merchantId };
}

const count = async (where: string): Promise<number> => {
  const [row] = await dispatcher.test.dataSource.query<{ count: number }[]>(
    `SELECT count(*)::int AS count FROM notifications WHERE ${where}`,
  );
  return row!.count;
};

const percentile = (values: number[], share: number): number =>
  Math.round(values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1]!);

test('a backlog drains at full speed, once each, and new notifications do not wait for it', async () => {
  for (let made = 0; made < BACKLOG; made += 500) {
    // One of them has as much as all the others.
    await dispatcher.deliverPayments(
      ...Array.from({ length: 500 }, (_, i) => paymentTo(i % 2 === 0 ? 1 : 1 + (((made + i) >> 1) % MERCHANTS))),
    );
  }
  dispatcher.clock.advance(60_000);
  measured = true;

  const { url } = dispatcher.test.dataSource.options as { url: string };
  const base = { SVC_ENVIRONMENT: 'development', SVC_LOG_LEVEL: 'silent', SVC_DATABASE_URL: url, ...DISPATCHER_ENV };
  const broker = new EmbeddedBroker();
  const rssBefore = process.memoryUsage().rss;
  let rssMost = rssBefore;
  let leasedMost = 0;
  const begunAt = performance.now();
  const service = await startService(webhookDispatcherService, {
    env: { ...base, SVC_DELIVERY: 'on', SVC_DELIVERY_CONCURRENCY: String(CONCURRENCY) },
    broker,
    clock: dispatcher.clock,
  });

  const toldAt = new Map<string, { at: number; merchantId: number }>();
  let told = 0;
  await waitUntil('the backlog to drain', 600_000, async () => {
    rssMost = Math.max(rssMost, process.memoryUsage().rss);
    if (leasedMost === 0 || told % 50 === 10)
      leasedMost = Math.max(leasedMost, await count(`state = 'pending' AND lease_id IS NOT NULL`));
    // For the merchants with a backlog and the one without, in turn.
    const merchantId = told++ % 2 === 0 ? QUIET : 1 + ((told >> 1) % MERCHANTS);
    const payment = paymentTo(merchantId);
    toldAt.set(payment.paymentReference, { at: performance.now(), merchantId });
    await broker.targets()[0]!.deliver([dispatcher.finalPaymentEvent(payment)]);
    return timesReceived.size >= BACKLOG + toldAt.size - 20;
  });
  const seconds = (performance.now() - begunAt) / 1000;
  await waitUntil('the last results', 30_000, async () => (await count(`state = 'pending'`)) === 0);
  await service.close();

  const waits = (isQuiet: boolean): number[] =>
    [...toldAt]
      .filter(([, { merchantId }]) => (merchantId === QUIET) === isQuiet)
      .map(([reference, { at }]) => arrivedAt.get(reference)! - at);
  process.stdout.write(
    `${BACKLOG} drained in ${seconds.toFixed(1)} s, ${Math.round(timesReceived.size / seconds)} a second; ` +
      `new ones beside it, p50 / p99 in ms: without a backlog ${percentile(waits(true), 0.5)} / ${percentile(waits(true), 0.99)}, ` +
      `behind their own ${percentile(waits(false), 0.5)} / ${percentile(waits(false), 0.99)}; ` +
      `memory ${Math.round((rssMost - rssBefore) / 2 ** 20)} MB more\n`,
  );
  expect(timesReceived.size).toBe(BACKLOG + toldAt.size);
  expect(new Set(timesReceived.values())).toEqual(new Set([1]));
  expect(await count(`state = 'delivered' AND tries = 1`)).toBe(BACKLOG + toldAt.size);
  // Behind the backlog, most of them would wait for nearly all of it.
  expect(percentile([...waits(true), ...waits(false)], 0.99)).toBeLessThan((seconds * 1000) / 2);
  // Memory contains only leased notifications, in flight or being recorded, for any backlog.
  expect(leasedMost).toBeGreaterThan(0);
  expect(leasedMost).toBeLessThanOrEqual(2 * CONCURRENCY);
}, 900_000);
