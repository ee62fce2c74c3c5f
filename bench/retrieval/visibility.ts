/** How soon after its outcome a payment is on the stream of its site, and found by a look-up. */
import { setTimeout as pause } from 'node:timers/promises';
import { MerchantClient } from '@svc/sdk';
import { MerchantEndpoint } from '../hosted-payment/merchant-endpoint.ts';
import { Payers } from '../hosted-payment/payer.ts';
import type { RunningSystem } from '../platforms/system.ts';
import { runClosedLoad, runOpenLoad } from '../measuring/open-loop.ts';
import { type Percentiles, percentilesOf } from '../measuring/percentiles.ts';
import type { Demo } from '../../tools/svc/demo/seed.ts';

export const VISIBLE_MS_MAX = 1_000;
const WARM_UP_WORKERS = 48;
const UNDER_WAY_MAX = 4_000;
/** Look-ups are a load of their own: every so many payments one is looked up. */
const LOOKED_UP_EVERY = 10;
const LOOK_AGAIN_MS = 5;
/** A payment that is not found or told by then is missing. */
const LATEST_MS = 30_000;

/**
 * Milliseconds from the outcome's own time, as the payment's record has it. A payment is looked up from when its webhook has
 * arrived, so `found` is an upper bound.
 */
export interface Visibility {
  readonly perSecond: number;
  readonly found: Percentiles;
  readonly told: Percentiles;
  readonly problems: readonly string[];
}

export async function measureVisibility(running: RunningSystem, demo: Demo, seconds: number): Promise<Visibility> {
  const { merchantId, siteId, apiKey, webhookSecret } = running.merchant;
  const site = new MerchantClient({ apiUrl: demo.apiUrl, merchantId, apiKey }).site(siteId);
  const endpoint = await MerchantEndpoint.start(webhookSecret);
  const payers = new Payers(running.merchant, endpoint);
  const [told, found, twice] = [new Map<string, number>(), new Map<string, number>(), [] as string[]];
  const ended = new AbortController();
  const lookUps: Promise<void>[] = [];
  const lookUp = async (sessionId: string): Promise<void> => {
    const deadline = performance.now() + LATEST_MS;
    while (performance.now() < deadline) {
      const [payment] = await site.paymentsOfInvoice(sessionId);
      if (payment) return void found.set(payment.paymentReference, Date.now());
      await pause(LOOK_AGAIN_MS);
    }
  };
  const { promise: opened, resolve: onOpen } = Promise.withResolvers<string>();
  const reading = (async () => {
    for await (const { type, payment } of site.stream({ signal: ended.signal, onOpen })) {
      if (type !== 'payment') continue;
      if (told.has(payment.paymentReference)) twice.push(payment.paymentReference);
      told.set(payment.paymentReference, Date.now());
    }
  })();
  try {
    await Promise.race([opened, reading]);
    let paid = 0;
    const pay = async (dueAt: number): Promise<void> => {
      const { sessionId } = await payers.pay(dueAt);
      paid++;
      if (paid % LOOKED_UP_EVERY === 0) lookUps.push(lookUp(sessionId));
    };
    const allTold = async (): Promise<void> => {
      const deadline = performance.now() + LATEST_MS;
      while (told.size < paid && performance.now() < deadline) await pause(LOOK_AGAIN_MS);
      await Promise.all(lookUps);
    };
    const warm = (await runClosedLoad(WARM_UP_WORKERS, seconds, () => pay(performance.now()))) / seconds;
    await allTold();
    const known = new Set(told.keys());
    const { begun, refused, errors } = await runOpenLoad({
      perSecond: warm / 2,
      seconds: seconds * 2,
      underWayMax: UNDER_WAY_MAX,
      work: pay,
    });
    await allTold();
    const outcomes = await running.sql<{ payment_reference: string; at: string }>(
      `SELECT payment_reference, extract(epoch FROM modified_at) * 1000 AS at FROM payment_processor.payments`,
    );
    const outcomeOf = new Map(outcomes.map((row) => [row.payment_reference, Number(row.at)]));
    const since = (times: Map<string, number>): Percentiles =>
      percentilesOf([...times].filter(([id]) => !known.has(id)).map(([id, at]) => at - outcomeOf.get(id)!));
    const problems = [
      ...(told.size === paid ? [] : [`${paid} payments were made, ${told.size} were told on the stream`]),
      ...(found.size === lookUps.length
        ? []
        : [`${lookUps.length - found.size} were not found within ${LATEST_MS} ms`]),
      ...(twice.length === 0 ? [] : [`${twice.length} were told twice`]),
      ...(refused + errors.length === 0 ? [] : [`${refused} of ${begun} could not begin, ${errors.length} failed`]),
    ];
    return { perSecond: warm / 2, found: since(found), told: since(told), problems };
  } finally {
    ended.abort();
    await reading;
    await payers.close();
    await endpoint.stop();
  }
}
