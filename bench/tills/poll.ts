/**
 * Asks a transformer for payments as tills do, each second for each of them, from a process of its own: a reader that is busy
 * with something else would measure itself. `node poll.ts <address>`; the parent says which orders tills wait for, and with
 * `end` takes the times, in milliseconds. `/health/live` does nothing but answer: what is slow there is the machine.
 */
import { Agent, get } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

/** Between two requests: eight tills that ask once a second. */
const PAUSE_MS = 1_000 / 8;
const ORDERS_MAX = 8;

type Asked = 'GetPayment' | 'invoice payment' | 'health';

const [address = ''] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true });
const times: Record<Asked, number[]> = { GetPayment: [], 'invoice payment': [], health: [] };
const orders: string[] = [];
let isOver = false;

process.on('message', (message: { readonly order?: string; readonly end?: true }) => {
  if (message.order !== undefined) orders.splice(0, Math.max(0, orders.push(message.order) - ORDERS_MAX));
  isOver ||= message.end === true;
});
process.on('disconnect', () => process.exit());

while (!isOver) {
  for (const order of [...orders]) {
    await ask('GetPayment', `/GetPayment?MerchantOrderId=${order}`);
    await ask('invoice payment', `/v1/invoice/${order}/payment`);
    await ask('health', '/health/live');
  }
  if (orders.length === 0) await pause(PAUSE_MS);
}
process.send!(times, () => process.exit());

/** One that is not answered is not counted: the transformer is being killed. */
async function ask(what: Asked, path: string): Promise<void> {
  await pause(PAUSE_MS / 3);
  const startedAt = performance.now();
  await new Promise<void>((resolve) => {
    get(`${address}${path}`, { agent }, (answer) => {
      answer.resume();
      answer.once('end', () => {
        times[what].push(performance.now() - startedAt);
        resolve();
      });
      answer.once('error', () => resolve());
    }).once('error', () => resolve());
  });
}
