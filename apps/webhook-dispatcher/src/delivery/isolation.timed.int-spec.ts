import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { EmbeddedBroker } from '@svc/messaging';
import { startService } from '@svc/service';
import { waitUntil } from '@svc/testing';
import { DISPATCHER_ENV, DispatcherUnderTest } from '../../test/dispatcher.js';
import { Receiver } from '../../test/receiver.js';
import { webhookDispatcherService } from '../index.js';

const ENDPOINTS = 100;
const BAD_MERCHANT = 101;
const EACH_MS = 10;
const ROUNDS = 500;

let dispatcher: DispatcherUnderTest;
let receivers: Receiver[];

beforeAll(async () => {
  dispatcher = await DispatcherUnderTest.start();
  for (let merchantId = 1; merchantId <= BAD_MERCHANT; merchantId++) await dispatcher.deliverDefaultSecrets(merchantId);
  receivers = await Promise.all(Array.from({ length: ENDPOINTS }, () => Receiver.start()));
});
afterAll(async () => {
  await Promise.all(receivers.map((receiver) => receiver.stop()));
  await dispatcher.test.stop();
});

/** The service with its own loop. The clock of the schedule is the test's; the timeouts of connections are real. */
async function running(): Promise<{
  tell: (merchantId: number, url: string) => Promise<string>;
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
    tell: async (merchantId, notificationUrl) => {
      const payment = { ...dispatcher.newPayment(notificationUrl), merchantId };
      await broker.targets()[0]!.deliver([dispatcher.finalPaymentEvent(payment)]);
      return payment.paymentReference;
    },
    stop: () => service.close(),
  };
}

/**
 * Notifies a hundred endpoints in turn, at a fixed rate, and with a fifth of the notifications those of `beside`. Returns the
 * sorted milliseconds from the event to the arrival at each of the hundred.
 */
async function latencies(beside: readonly string[]): Promise<number[]> {
  const { tell, stop } = await running();
  const arrivedAt = new Map<string, number>();
  for (const receiver of receivers)
    receiver.setBehaviours((response, { body }) => {
      arrivedAt.set((JSON.parse(body) as { paymentReference: string }).paymentReference, performance.now());
      response.writeHead(204).end();
    });
  const toldAt = new Map<string, number>();
  const telling: Promise<unknown>[] = [];
  // More than the worker has slots for, from the start.
  for (let i = 0; i < 20; i++) await Promise.all(beside.map((url) => tell(BAD_MERCHANT, url)));
  const begunAt = performance.now();
  let told = 0;
  await waitUntil('all to be told', 60_000, async () => {
    for (; told < ROUNDS && performance.now() >= begunAt + told * EACH_MS; told++) {
      const at = performance.now();
      const bad = told % 5 === 0 ? beside[(told / 5) % beside.length] : undefined;
      const merchantId = (told % ENDPOINTS) + 1;
      if (bad !== undefined) telling.push(tell(BAD_MERCHANT, bad));
      else
        telling.push(tell(merchantId, receivers[merchantId - 1]!.url).then((reference) => toldAt.set(reference, at)));
    }
    return told === ROUNDS;
  });
  await Promise.all(telling);
  await waitUntil('all to arrive', 30_000, async () =>
    [...toldAt.keys()].every((reference) => arrivedAt.has(reference)),
  );
  await stop();
  return [...toldAt].map(([reference, at]) => arrivedAt.get(reference)! - at).toSorted((a, b) => a - b);
}

const percentile = (sorted: number[], share: number): number => sorted[Math.ceil(sorted.length * share) - 1]!;

async function listening(server: Server): Promise<string> {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`;
}

test('a merchant with dead and hanging endpoints does not slow down a hundred others', async () => {
  // They accept the connection and never respond. The last server is closed: nothing listens.
  const hanging: Socket[] = [];
  const servers = Array.from({ length: 7 }, () =>
    createServer((socket) => void hanging.push(socket.on('error', () => undefined))),
  );
  const urls = await Promise.all(servers.map(listening));
  await new Promise((closed) => servers.at(-1)!.close(closed));

  await latencies([]); // warm
  const alone = await latencies([]);
  const beside = await latencies(urls);
  for (const socket of hanging) socket.destroy();
  for (const server of servers) server.close();

  const figures = [alone, beside].map((sorted) => [0.5, 0.99, 1].map((share) => Math.round(percentile(sorted, share))));
  process.stdout.write(
    `webhook p50 / p99 / most in ms: alone ${figures[0]!.join(' / ')}, beside six hanging endpoints and a dead one ${figures[1]!.join(' / ')}\n`,
  );
  // The aim is twice the earlier time; this detects waiting for hanging slots, which takes 3000.
  expect(percentile(beside, 0.99) - percentile(alone, 0.99)).toBeLessThan(1_500);
});
