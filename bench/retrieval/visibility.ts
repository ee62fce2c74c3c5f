/**
 * Measures the time from a payment's outcome until the stream of its site has sent it, and until a look-up finds it.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { MerchantClient } from '@svc/sdk';
import type { Demo } from '../../tools/svc/demo/seed.ts';
import { MerchantEndpoint } from '../hosted-payment/merchant-endpoint.ts';
import { Payers } from '../hosted-payment/payer.ts';
import { forSeconds, runClosedLoad, runOpenLoad } from '../measuring/open-loop.ts';
import { computePercentiles, type Percentiles } from '../measuring/percentiles.ts';
import type { RunningSystem } from '../platforms/system.ts';

export const MAX_VISIBILITY_MS = 1_000;
const WARM_UP_WORKERS = 48;
const MAX_IN_FLIGHT = 4_000;
/** One of this many payments is looked up. More look-ups would be too much load. */
const PAYMENTS_PER_LOOK_UP = 10;
const POLL_INTERVAL_MS = 5;
/** A payment that is not found or not streamed within this time counts as missing. */
const MAX_WAIT_MS = 30_000;

/**
 * Milliseconds from the time of the outcome in the payment's row. A look-up starts only when the webhook has arrived,
 * so the real values of `found` may be lower.
 */
export interface Visibility {
  readonly perSecond: number;
  readonly found: Percentiles;
  readonly streamed: Percentiles;
  readonly problems: readonly string[];
}

export async function measureVisibility(running: RunningSystem, demo: Demo, seconds: number): Promise<Visibility> {
  const { merchantId, siteId, apiKey, webhookSecret } = running.merchant;
  const site = new MerchantClient({ apiUrl: demo.apiUrl, merchantId, apiKey }).site(siteId);
  const endpoint = await MerchantEndpoint.start(webhookSecret);
  const payers = new Payers(running.merchant, endpoint);
  const [streamed, found, duplicates] = [new Map<string, number>(), new Map<string, number>(), [] as string[]];
  const abortStream = new AbortController();
  const lookUps: Promise<void>[] = [];
  const lookUp = async (sessionId: string): Promise<void> => {
    const deadline = performance.now() + MAX_WAIT_MS;
    while (performance.now() < deadline) {
      const [payment] = await site.paymentsOfInvoice(sessionId);
      if (payment) return void found.set(payment.paymentReference, Date.now());
      await pause(POLL_INTERVAL_MS);
    }
  };
  const { promise: opened, resolve: onOpen } = Promise.withResolvers<string>();
  const streamReader = (async () => {
    for await (const { type, payment } of site.stream({ signal: abortStream.signal, onOpen })) {
      if (type !== 'payment') continue;
      if (streamed.has(payment.paymentReference)) duplicates.push(payment.paymentReference);
      streamed.set(payment.paymentReference, Date.now());
    }
  })();
  try {
    await Promise.race([opened, streamReader]);
    let paidCount = 0;
    const pay = async (dueAt: number): Promise<void> => {
      const { sessionId } = await payers.pay(dueAt);
      paidCount++;
      if (paidCount % PAYMENTS_PER_LOOK_UP === 0) lookUps.push(lookUp(sessionId));
    };
    const waitUntilStreamed = async (): Promise<void> => {
      const deadline = performance.now() + MAX_WAIT_MS;
      while (streamed.size < paidCount && performance.now() < deadline) await pause(POLL_INTERVAL_MS);
      await Promise.all(lookUps);
    };
    const warmUpRuns = await runClosedLoad(WARM_UP_WORKERS, forSeconds(seconds), () => pay(performance.now()));
    const warmUpRate = warmUpRuns / seconds;
    await waitUntilStreamed();
    const warmUpPayments = new Set(streamed.keys());
    const { started, refused, errors } = await runOpenLoad({
      perSecond: warmUpRate / 2,
      seconds: seconds * 2,
      maxInFlight: MAX_IN_FLIGHT,
      work: pay,
    });
    await waitUntilStreamed();
    const outcomes = await running.sql<{ payment_reference: string; at: string }>(
      `SELECT payment_reference, extract(epoch FROM modified_at) * 1000 AS at FROM payment_processor.payments`,
    );
    const outcomeTimes = new Map(outcomes.map((row) => [row.payment_reference, Number(row.at)]));
    const sinceOutcome = (times: Map<string, number>): Percentiles =>
      computePercentiles(
        [...times].filter(([id]) => !warmUpPayments.has(id)).map(([id, at]) => at - outcomeTimes.get(id)!),
      );
    const problems = [
      ...describeProblem(paidCount - streamed.size, 'payments were not sent on the stream'),
      ...describeProblem(lookUps.length - found.size, `payments were not found within ${MAX_WAIT_MS} ms`),
      ...describeProblem(duplicates.length, 'payments were sent twice on the stream'),
      ...describeProblem(refused + errors.length, `of ${started} payments could not be started, or failed`),
    ];
    return { perSecond: warmUpRate / 2, found: sinceOutcome(found), streamed: sinceOutcome(streamed), problems };
  } finally {
    abortStream.abort();
    await streamReader;
    await payers.close();
    await endpoint.stop();
  }
}

function describeProblem(count: number, description: string): string[] {
  return count === 0 ? [] : [`${count} ${description}`];
}
