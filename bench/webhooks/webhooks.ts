/** Part `webhooks`: deliveries a second and what one costs, the platform's and those of queues that people use. */
import { setTimeout as pause } from 'node:timers/promises';
import { MerchantEndpoint } from '../hosted-payment/merchant-endpoint.ts';
import type { PartOptions } from '../main.ts';
import { cpuOf, type CpuMs, difference } from '../measuring/cpu.ts';
import { median } from '../measuring/percentiles.ts';
import { rounded, type Section } from '../report.ts';
import { bullMq, graphileWorker } from './job-queues.ts';
import { platformSender } from './platform-sender.ts';
import type { Sender } from './sender.ts';

const AGAINST_BULLMQ = 0.5;
/** For each second of a step, so that the slowest takes about as long as a step of the other parts. */
const DELIVERIES_PER_SECOND = 2_500;
const WARM_UP_SHARE = 0.2;
/** Without a single delivery in between, it is stuck. */
const STUCK_AFTER_MS = 20_000;

interface Delivered {
  readonly sender: string;
  readonly perSecond: number;
  /** Milliseconds for each delivery; `load` tells and receives. */
  readonly cpuMs: CpuMs;
  readonly count: number;
  readonly problem: string | undefined;
}

export async function measureWebhooks({ rounds, seconds, say }: PartOptions): Promise<Section> {
  const senders = [platformSender, bullMq, graphileWorker];
  const runs: Delivered[] = [];
  for (let round = 1; round <= rounds; round++)
    for (const sender of senders) {
      const run = await deliver(sender, seconds * DELIVERIES_PER_SECOND);
      say(`round ${round} of ${rounds}, ${run.sender}: ${run.problem ?? `${rounded(run.perSecond)} a second`}`);
      runs.push(run);
    }
  const own = (sender: Sender): Delivered[] => runs.filter((run) => run.sender === sender.name);
  const rate = (sender: Sender): number => median(own(sender).map(({ perSecond }) => perSecond));
  const cpu = (sender: Sender, ...groups: string[]): string =>
    rounded(median(own(sender).map(({ cpuMs }) => groups.reduce((sum, group) => sum + (cpuMs[group] ?? 0), 0))));
  return {
    title: 'Webhooks, from telling to acknowledgement',
    tables: [
      {
        title: 'Deliveries a second, each signed, checked and acknowledged once; CPU ms for one',
        columns: ['', 'median', 'rounds', 'services', 'database or Redis', 'load', 'what it does otherwise'],
        rows: senders.map((sender) => [
          sender.name,
          rounded(rate(sender)),
          own(sender)
            .map(({ perSecond }) => rounded(perSecond))
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
        promised: AGAINST_BULLMQ,
      },
    ],
    problems: runs.flatMap(({ sender, problem }) => (problem === undefined ? [] : [`${sender}: ${problem}`])),
    data: runs,
  };
}

async function deliver(sender: Sender, count: number): Promise<Delivered> {
  const running = await sender.start();
  const endpoint = await MerchantEndpoint.start(running.secret);
  const used = (): CpuMs => {
    const { user, system } = process.cpuUsage();
    return { ...cpuOf(running.groups), load: (user + system) / 1_000 };
  };
  try {
    const warmUp = Math.round(count * WARM_UP_SHARE);
    await running.begin(endpoint.url, warmUp);
    await heard(endpoint, warmUp);
    const before = used();
    const startedAt = performance.now();
    await running.begin(endpoint.url, count);
    await heard(endpoint, warmUp + count);
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

/** Returns when the merchant has heard of so many payments. */
async function heard(endpoint: MerchantEndpoint, count: number): Promise<void> {
  for (let [last, at] = [-1, 0]; endpoint.heard.size < count; await pause(2)) {
    if (endpoint.heard.size !== last) [last, at] = [endpoint.heard.size, performance.now()];
    else if (performance.now() - at > STUCK_AFTER_MS)
      throw new Error(`Only ${last} of ${count} webhooks came; ${endpoint.forged} had a wrong signature.`);
  }
}

function problemOf({ heard, posts, forged }: MerchantEndpoint, count: number): string | undefined {
  const ids = new Set([...heard.values()].flatMap(({ webhookIds }) => [...webhookIds]));
  if (heard.size === count && ids.size === count && posts === count && forged === 0) return undefined;
  return `${count} payments, ${heard.size} heard of, ${ids.size} ids, ${posts} requests, ${forged} wrong signatures`;
}
