/** Part `payments`: the hosted payment on each deployment of the platform. */
import type { PartOptions } from '../main.ts';
import { median } from '../measuring/percentiles.ts';
import { minimalSystem } from '../minimal/system.ts';
import { type Deployment, DEPLOYMENT_NAMES, platform, platformAt } from '../platforms/platform.ts';
import type { System } from '../platforms/system.ts';
import { type Figure, type Plot, type Section, type Table, toThreeDigits } from '../report.ts';
import { measure, type Measurement, systemCpuMs } from './measure.ts';

/** Promised completed payments a second, on two cores that run everything. */
const PROMISED_RATES: Readonly<Record<string, number>> = {
  embedded: 200,
  'RabbitMQ, all in one': 300,
  'RabbitMQ, a process each': 200,
};
const MIN_RATIO_TO_MINIMAL = 0.9;
const MAX_OUTCOME_TO_WEBHOOK_MS = { p50: 14, p99: 50 };
const MAX_SATURATED_COMMITS = 2.5;
/** Compared with the platform before several writes shared one statement. */
const MIN_RATIO_TO_COMMIT: Readonly<Record<Deployment, number>> = { embedded: 1.7, rabbitmq: 1.7, distributed: 1.4 };
const MAX_CPU_RATIO_TO_COMMIT = 0.5;
const DEPLOYMENTS: readonly Deployment[] = ['embedded', 'rabbitmq', 'distributed'];

export async function measurePayments(options: PartOptions): Promise<Section> {
  const { against } = options;
  const platforms = DEPLOYMENTS.flatMap((deployment) => [
    ...(against === undefined ? [] : [platformAt(against, deployment)]),
    platform(deployment),
  ]);
  const systems = [...platforms, minimalSystem];
  const runs = await measureAlternating(systems, 0, options);
  const allInOne = runs.filter(({ system }) => system === 'RabbitMQ, all in one');
  const figures: Figure[] = Object.entries(PROMISED_RATES).map(([system, promised]) => ({
    name: `completed hosted payments, ${system}`,
    value: median(runs.filter((run) => run.system === system).map((run) => run.completedPerSecond)),
    unit: 'a second',
    promised,
  }));
  const rateOf = (system: string): number =>
    median(runs.filter((run) => run.system === system).map(({ completedPerSecond }) => completedPerSecond));
  figures.push({
    name: 'RabbitMQ, all in one, against the least code',
    value: rateOf('RabbitMQ, all in one') / rateOf(minimalSystem.name),
    unit: '',
    promised: MIN_RATIO_TO_MINIMAL,
  });
  for (const percentile of ['p50', 'p99'] as const)
    figures.push({
      name: `outcome → webhook at half load, ${percentile}, RabbitMQ, all in one`,
      value: median(allInOne.map(({ halfLoad }) => halfLoad.latency.outcomeToWebhook[percentile])),
      unit: 'ms',
      promised: MAX_OUTCOME_TO_WEBHOOK_MS[percentile],
      direction: 'most',
    });
  figures.push({
    name: 'commits for one payment when saturated, RabbitMQ, all in one',
    value: median(allInOne.map(({ saturated }) => saturated.perPayment.commits)),
    unit: '',
    promised: MAX_SATURATED_COMMITS,
    direction: 'most',
  });
  if (against !== undefined) figures.push(...DEPLOYMENTS.flatMap((way) => comparison(runs, way, against)));
  return {
    title: 'Hosted payment: session, page, charge, ledger, webhook',
    tables: [rates(runs), legs(runs), costAtHalfLoad(runs), costSaturated(runs)],
    plots: [...new Map(runs.map((run) => [run.system, run])).values()].map(staircase),
    figures,
    problems: problemsOf(runs),
    data: runs,
  };
}

/** Measures each system once, then each again, so that a disturbance of the machine affects all of them. */
export async function measureAlternating(
  systems: readonly System[],
  acquirerLatencyMs: number,
  { rounds, seconds, log }: PartOptions,
): Promise<Measurement[]> {
  const runs: Measurement[] = [];
  for (let round = 1; round <= rounds; round++) {
    for (const system of systems) {
      log(`round ${round} of ${rounds}, ${system.name}`);
      const staircase = {
        acquirerLatencyMs,
        warmUpSeconds: 2 * seconds,
        halfLoadSeconds: seconds,
        stepSeconds: seconds,
      };
      runs.push(await measure(system, staircase, log));
    }
  }
  return runs;
}

export function problemsOf(runs: readonly Measurement[]): string[] {
  return runs.flatMap(({ system, books }) =>
    books.disagreement === undefined ? [] : [`${system}: ${books.disagreement}`],
  );
}

function bySystem(runs: readonly Measurement[]): [string, Measurement[]][] {
  return [...new Set(runs.map(({ system }) => system))].map((system) => [
    system,
    runs.filter((run) => run.system === system),
  ]);
}

export function rates(runs: readonly Measurement[]): Table {
  return {
    title: 'Completed payments a second, and the books of all rounds',
    columns: ['', 'median', 'rounds', 'charges = payments = transfers = notification ids'],
    rows: bySystem(runs).map(([system, own]) => {
      const perSecond = own.map(({ completedPerSecond }) => completedPerSecond);
      const books = own.map(({ books: { charges, payments, transfers, notificationIds } }) => [
        charges,
        payments,
        transfers,
        notificationIds,
      ]);
      const sums = [0, 1, 2, 3].map((column) => books.reduce((sum, row) => sum + row[column]!, 0));
      return [system, toThreeDigits(median(perSecond)), perSecond.map(toThreeDigits).join(', '), sums.join(' = ')];
    }),
  };
}

export function legs(runs: readonly Measurement[]): Table {
  return {
    title: 'Latency at half load in ms, p50 / p95 / p99',
    columns: ['', 'session', 'page', 'pay', 'outcome → webhook', 'whole'],
    rows: bySystem(runs).map(([system, own]) => [
      system,
      ...(['session', 'page', 'pay', 'outcomeToWebhook', 'whole'] as const).map((leg) =>
        (['p50', 'p95', 'p99'] as const)
          .map((percentile) => toThreeDigits(median(own.map(({ halfLoad }) => halfLoad.latency[leg][percentile]))))
          .join(' / '),
      ),
    ]),
  };
}

/** Figures of the current platform divided by those of the platform at the commit, both measured in this run. */
function comparison(runs: readonly Measurement[], deployment: Deployment, commit: string): Figure[] {
  const ratio = (of: (run: Measurement) => number): number => {
    const [after, before] = [DEPLOYMENT_NAMES[deployment], `${DEPLOYMENT_NAMES[deployment]}, at ${commit}`].map(
      (system) => median(runs.filter((run) => run.system === system).map(of)),
    );
    return after! / before!;
  };
  const name = (what: string): string => `${what}, ${DEPLOYMENT_NAMES[deployment]}, against ${commit}`;
  return [
    {
      name: name('completed'),
      value: ratio(({ completedPerSecond }) => completedPerSecond),
      unit: '',
      promised: MIN_RATIO_TO_COMMIT[deployment],
    },
    {
      name: name('processor time of a payment when saturated'),
      value: ratio(({ saturated }) => systemCpuMs(saturated.cpuMs)),
      unit: '',
      promised: MAX_CPU_RATIO_TO_COMMIT,
      direction: 'most',
    },
  ];
}

type Cost = Pick<Measurement['saturated'], 'cpuMs' | 'perPayment'>;

function costAtHalfLoad(runs: readonly Measurement[]): Table {
  return cost(runs, 'at half load', ({ halfLoad, perPayment }) => ({ cpuMs: halfLoad.cpuMs, perPayment }));
}

function costSaturated(runs: readonly Measurement[]): Table {
  return cost(runs, 'when the system is saturated', ({ saturated }) => saturated);
}

function cost(runs: readonly Measurement[], when: string, of: (run: Measurement) => Cost): Table {
  const groups = ['services', 'PostgreSQL', 'RabbitMQ', 'load'];
  return {
    title: `Cost of one payment ${when}`,
    columns: ['', ...groups.map((group) => `${group}, CPU ms`), 'commits', 'WAL bytes', 'bytes on loopback'],
    rows: bySystem(runs).map(([system, own]) => [
      system,
      ...groups.map((group) => toThreeDigits(median(own.map((run) => of(run).cpuMs[group] ?? 0)))),
      ...(['commits', 'walBytes', 'loopbackBytes'] as const).map((count) =>
        toThreeDigits(median(own.map((run) => of(run).perPayment[count]))),
      ),
    ]),
  };
}

function staircase({ system, steps }: Measurement): Plot {
  return {
    title: `${system}: from start to webhook in ms, p50 and p99, by offered payments a second`,
    x: { label: 'offered a second', points: steps.map(({ offeredPerSecond }) => toThreeDigits(offeredPerSecond)) },
    y: 'ms',
    lines: [steps.map(({ latency }) => latency.whole.p50), steps.map(({ latency }) => latency.whole.p99)],
  };
}
