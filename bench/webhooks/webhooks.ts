/**
 * Part `webhooks` of the benchmark: measures rate and cost of webhook deliveries by the platform and by common job
 * queues.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { MerchantEndpoint } from '../hosted-payment/merchant-endpoint.ts';
import type { PartOptions } from '../main.ts';
import { type CpuMs, readCpuMs, subtractCpu } from '../measuring/cpu.ts';
import { median } from '../measuring/percentiles.ts';
import { type Section, toThreeDigits } from '../report.ts';
import { bullMq, graphileWorker } from './job-queues.ts';
import { newSenderAtCommit, platformSender } from './platform-sender.ts';
import type { WebhookSender } from './sender.ts';

/** The platform must reach at least this share of the rate of BullMQ. */
const MIN_RATIO_TO_BULLMQ = 0.5;
/**
 * The number of measured deliveries is this times the option `--seconds`. With it, the slowest sender needs about as
 * long as the steps of the other parts of the benchmark.
 */
const DELIVERIES_PER_SECOND = 2_500;
const WARM_UP_SHARE = 0.2;
/** A run fails if no webhook arrives for this long. */
const STUCK_AFTER_MS = 20_000;

interface Measurement {
  readonly sender: string;
  readonly perSecond: number;
  /** Milliseconds of CPU for each delivery. `load` is this program, which creates payments and receives webhooks. */
  readonly cpuMs: CpuMs;
  readonly count: number;
  readonly problem: string | undefined;
}

export async function measureWebhooks({ rounds, seconds, against, log }: PartOptions): Promise<Section> {
  const senders = [
    ...(against === undefined ? [] : [newSenderAtCommit(against)]),
    platformSender,
    bullMq,
    graphileWorker,
  ];
  const runs: Measurement[] = [];
  for (let round = 1; round <= rounds; round++)
    for (const sender of senders) {
      const run = await measureSender(sender, seconds * DELIVERIES_PER_SECOND);
      log(`round ${round} of ${rounds}, ${run.sender}: ${run.problem ?? `${toThreeDigits(run.perSecond)} a second`}`);
      runs.push(run);
    }
  const runsOf = (sender: WebhookSender): Measurement[] => runs.filter((run) => run.sender === sender.name);
  const medianRate = (sender: WebhookSender): number => median(runsOf(sender).map(({ perSecond }) => perSecond));
  const medianCpu = (sender: WebhookSender, ...groups: string[]): string =>
    toThreeDigits(
      median(runsOf(sender).map(({ cpuMs }) => groups.reduce((sum, group) => sum + (cpuMs[group] ?? 0), 0))),
    );
  return {
    title: 'Webhooks, from event to acknowledgement',
    tables: [
      {
        title: 'Deliveries a second, each signed, verified and acknowledged once; CPU ms for one',
        columns: ['', 'median', 'rounds', 'services', 'database or Redis', 'load', 'differences'],
        rows: senders.map((sender) => [
          sender.name,
          toThreeDigits(medianRate(sender)),
          runsOf(sender)
            .map(({ perSecond }) => toThreeDigits(perSecond))
            .join(', '),
          medianCpu(sender, 'services'),
          medianCpu(sender, 'PostgreSQL', 'Redis'),
          medianCpu(sender, 'load'),
          sender.description,
        ]),
      },
    ],
    figures: [
      {
        name: 'webhook deliveries against BullMQ on Redis',
        value: medianRate(platformSender) / medianRate(bullMq),
        unit: '',
        promised: MIN_RATIO_TO_BULLMQ,
      },
    ],
    problems: runs.flatMap(({ sender, problem }) => (problem === undefined ? [] : [`${sender}: ${problem}`])),
    data: runs,
  };
}

async function measureSender(sender: WebhookSender, count: number): Promise<Measurement> {
  const running = await sender.start();
  const endpoint = await MerchantEndpoint.start(running.secret);
  const readCpu = (): CpuMs => {
    const { user, system } = process.cpuUsage();
    return { ...readCpuMs(running.groups), load: (user + system) / 1_000 };
  };
  try {
    const warmUp = Math.round(count * WARM_UP_SHARE);
    await running.send(endpoint, warmUp);
    await waitForWebhooks(endpoint, warmUp);
    const before = readCpu();
    const startedAt = performance.now();
    await running.send(endpoint, count);
    await waitForWebhooks(endpoint, warmUp + count);
    const perSecond = count / ((performance.now() - startedAt) / 1_000);
    const cpu = subtractCpu(readCpu(), before);
    return {
      sender: sender.name,
      perSecond,
      cpuMs: Object.fromEntries(Object.entries(cpu).map(([group, ms]) => [group, ms / count])),
      count,
      problem: findProblem(endpoint, warmUp + count),
    };
  } finally {
    await running.stop();
    await endpoint.stop();
  }
}

/** Waits until the merchant has received webhooks of `count` payments. */
async function waitForWebhooks(endpoint: MerchantEndpoint, count: number): Promise<void> {
  for (let [lastCount, changedAt] = [-1, 0]; endpoint.notifiedPayments.size < count; await pause(2)) {
    if (endpoint.notifiedPayments.size !== lastCount)
      [lastCount, changedAt] = [endpoint.notifiedPayments.size, performance.now()];
    else if (performance.now() - changedAt > STUCK_AFTER_MS)
      throw new Error(
        `Only ${lastCount} of ${count} webhooks arrived; ${endpoint.invalidSignatures} had a wrong signature.`,
      );
  }
}

function findProblem(
  { notifiedPayments: notified, requestCount, invalidSignatures }: MerchantEndpoint,
  count: number,
): string | undefined {
  const ids = new Set([...notified.values()].flatMap(({ webhookIds }) => [...webhookIds]));
  if (notified.size === count && ids.size === count && requestCount === count && invalidSignatures === 0)
    return undefined;
  return `${count} payments, ${notified.size} with a webhook, ${ids.size} ids, ${requestCount} requests, ${invalidSignatures} wrong signatures`;
}
