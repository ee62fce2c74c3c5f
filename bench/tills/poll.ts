/**
 * Simulates tills that poll apps/pos-transformer for payments, and measures each request. The program runs in its own
 * process, because the event loop of the busy test process would delay the measurement. Usage:
 * `node poll.ts <address>`. The parent process sends the orders for which the tills wait. It finally sends `end`, and
 * gets the durations in milliseconds. A request to `/health/live` causes no work, so if its response is slow, the
 * machine is slow.
 */
import { Agent, get } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

/** The pauses in one round of requests. Eight rounds per second correspond to eight tills that poll once per second. */
const PAUSE_MS = 1_000 / 8;
/** Only the newest orders are polled, one for each till. */
const MAX_ORDERS = 8;

type RequestKind = 'GetPayment' | 'invoice payment' | 'health';

const [address = ''] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true });
const durationsMs: Record<RequestKind, number[]> = { GetPayment: [], 'invoice payment': [], health: [] };
const orders: string[] = [];
let hasEnded = false;

process.on('message', (message: { readonly order?: string; readonly end?: true }) => {
  if (message.order !== undefined) orders.splice(0, Math.max(0, orders.push(message.order) - MAX_ORDERS));
  hasEnded ||= message.end === true;
});
process.on('disconnect', () => process.exit());

while (!hasEnded) {
  for (const order of [...orders]) {
    await measureRequest('GetPayment', `/GetPayment?MerchantOrderId=${order}`);
    await measureRequest('invoice payment', `/v1/invoice/${order}/payment`);
    await measureRequest('health', '/health/live');
  }
  if (orders.length === 0) await pause(PAUSE_MS);
}
process.send!(durationsMs, () => process.exit());

/** Measures one request. A request without a response is not counted, because the test kills the transformer. */
async function measureRequest(kind: RequestKind, path: string): Promise<void> {
  await pause(PAUSE_MS / 3);
  const startedAt = performance.now();
  await new Promise<void>((resolve) => {
    get(`${address}${path}`, { agent }, (response) => {
      response.resume();
      response.once('end', () => {
        durationsMs[kind].push(performance.now() - startedAt);
        resolve();
      });
      response.once('error', () => resolve());
    }).once('error', () => resolve());
  });
}
