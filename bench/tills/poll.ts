/**
 * Polls a transformer for payments like tills, each of which asks once a second. Runs in a process of its own, because a busy
 * process would measure itself. `node poll.ts <address>`; the parent sends the orders that tills wait for, and `end` to get
 * the times in milliseconds. `/health/live` only answers: if it is slow, the machine is slow.
 */
import { Agent, get } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

/** Between two requests: eight tills that ask once a second. */
const PAUSE_MS = 1_000 / 8;
const MAX_ORDERS = 8;

type RequestKind = 'GetPayment' | 'invoice payment' | 'health';

const [address = ''] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true });
const times: Record<RequestKind, number[]> = { GetPayment: [], 'invoice payment': [], health: [] };
const orders: string[] = [];
let isOver = false;

process.on('message', (message: { readonly order?: string; readonly end?: true }) => {
  if (message.order !== undefined) orders.splice(0, Math.max(0, orders.push(message.order) - MAX_ORDERS));
  isOver ||= message.end === true;
});
process.on('disconnect', () => process.exit());

while (!isOver) {
  for (const order of [...orders]) {
    await measureRequest('GetPayment', `/GetPayment?MerchantOrderId=${order}`);
    await measureRequest('invoice payment', `/v1/invoice/${order}/payment`);
    await measureRequest('health', '/health/live');
  }
  if (orders.length === 0) await pause(PAUSE_MS);
}
process.send!(times, () => process.exit());

/** A request without an answer is not counted: the test kills the transformer. */
async function measureRequest(kind: RequestKind, path: string): Promise<void> {
  await pause(PAUSE_MS / 3);
  const startedAt = performance.now();
  await new Promise<void>((resolve) => {
    get(`${address}${path}`, { agent }, (answer) => {
      answer.resume();
      answer.once('end', () => {
        times[kind].push(performance.now() - startedAt);
        resolve();
      });
      answer.once('error', () => resolve());
    }).once('error', () => resolve());
  });
}
