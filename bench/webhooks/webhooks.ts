/** Part `webhooks`: rate and cost of deliveries, of the platform and of common job queues. */
import { setTimeout as pause } from 'node:timers/promises';
import { MerchantEndpoint } from '../hosted-payment/merchant-endpoint.ts';
import type { PartOptions } from '../main.ts';
import { type CpuMs, cpuOf, difference } from '../measuring/cpu.ts';
import { median } from '../measuring/percentiles.ts';
import { type Section, toThreeDigits } from '../report.ts';
import { bullMq, graphileWorker } from './job-queues.ts';
import { platformSender } from './platform-sender.ts';
import type { Sender } from './sender.ts';

const MIN_RATIO_TO_BULLMQ = 0.5;
/** Multiplied by the seconds of a step, so that the slowest sender takes about as long as a step of other parts. */
const DELIVERIES_PER_SECOND = 2_500;
const WARM_UP_SHARE = 0.2;
/** A run without a delivery for this long is stuck. */
const STUCK_AFTER_MS = 20_000;

interface Measurement {
  readonly sender: string;
  readonly perSecond: number;
  /** Milliseconds for each delivery; `load` is this program: it creates payments and receives webhooks. */
  readonly cpuMs: CpuMs;
  readonly count: number;
  readonly problem: string | undefined;
}

export async function measureWebhooks({ rounds, seconds, log }: PartOptions): Promise<Section> {
  const senders = [platformSender, bullMq, graphileWorker];
  const runs: Measurement[] = [];
  for (let round = 1; round <= rounds; round++)
    for (const sender of senders) {
      const run = await deliver(sender, seconds * DELIVERIES_PER_SECOND);
      log(`round ${round} of ${rounds}, ${run.sender}: ${run.problem ?? `${toThreeDigits(run.perSecond)} a second`}`);
      runs.push(run);
    }
  const own = (sender: Sender): Measurement[] => runs.filter((run) => run.sender === sender.name);
  const rate = (sender: Sender): number => median(own(sender).map(({ perSecond }) => perSecond));
  const cpu = (sender: Sender, ...groups: string[]): string =>
    toThreeDigits(median(own(sender).map(({ cpuMs }) => groups.reduce((sum, group) => sum + (cpuMs[group] ?? 0), 0))));
  return {
    title: 'Webhooks, from event to acknowledgement',
    tables: [
      {
        title: 'Deliveries a second, each signed, checked and acknowledged once; CPU ms for one',
        columns: ['', 'median', 'rounds', 'services', 'database or Redis', 'load', 'differences'],
        rows: senders.map((sender) => [
          sender.name,
          toThreeDigits(rate(sender)),
          own(sender)
            .map(({ perSecond }) => toThreeDigits(perSecond))
            .join(', '),
          cpu(sender, 'services'),
          cpu(sender, 'PostgreSQL', 'Redis'),
          cpu(sender, 'load'),
          sender.remark,
        ]),
      },
    ],
    plots: [],
    figures: [
      {
        name: 'webhook deliveries against BullMQ on Redis',
        value: rate(platformSender) / rate(bullMq),
        unit: '',
        promised: MIN_RATIO_TO_BULLMQ,
      },
    ],
    problems: runs.flatMap(({ sender, problem }) => (problem === undefined ? [] : [`${sender}: ${problem}`])),
    data: runs,
  };
}

async function deliver(sender: Sender, count: number): Promise<Measurement> {
  const running = await sender.start();
  const endpoint = await MerchantEndpoint.start(running.secret);
  const used = (): CpuMs => {
    const { user, system } = process.cpuUsage();
    return { ...cpuOf(running.groups), load: (user + system) / 1_000 };
  };
  try {
    const warmUp = Math.round(count * WARM_UP_SHARE);
    await running.send(endpoint.url, warmUp);
    await waitForWebhooks(endpoint, warmUp);
    const before = used();
    const startedAt = performance.now();
    await running.send(endpoint.url, count);
    await waitForWebhooks(endpoint, warmUp + count);
    const perSecond = count / ((performance.now() - startedAt) / 1_000);
    const cpu = difference(used(), before);
    return {
      sender: sender.name,
      perSecond,
      cpuMs: Object.fromEntries(Object.entries(cpu).map(([group, ms]) => [group, ms / count])),
      count,
      problem: problemOf(endpoint, warmUp + count),
    };
  } finally {
    await running.stop();
    await endpoint.stop();
  }
}

/** Waits until the merchant has webhooks of `count` payments. */
async function waitForWebhooks(endpoint: MerchantEndpoint, count: number): Promise<void> {
  for (let [last, at] = [-1, 0]; endpoint.notified.size < count; await pause(2)) {
    if (endpoint.notified.size !== last) [last, at] = [endpoint.notified.size, performance.now()];
    else if (performance.now() - at > STUCK_AFTER_MS)
      throw new Error(
        `Only ${last} of ${count} webhooks arrived; ${endpoint.invalidSignatures} had a wrong signature.`,
      );
  }
}

function problemOf({ notified, requestCount, invalidSignatures }: MerchantEndpoint, count: number): string | undefined {
  const ids = new Set([...notified.values()].flatMap(({ webhookIds }) => [...webhookIds]));
  if (notified.size === count && ids.size === count && requestCount === count && invalidSignatures === 0)
    return undefined;
  return `${count} payments, ${notified.size} with a webhook, ${ids.size} ids, ${requestCount} requests, ${invalidSignatures} wrong signatures`;
}
