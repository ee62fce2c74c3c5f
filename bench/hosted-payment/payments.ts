/** Part `payments`: the hosted payment in every way there is to run the platform. */
import type { PartOptions } from '../main.ts';
import { median } from '../measuring/percentiles.ts';
import { type Figure, type Plot, rounded, type Section, type Table } from '../report.ts';
import { leastCode } from '../least/system.ts';
import { type Measured, measure, systemCpuMs } from './measure.ts';
import { NAMES, platform, platformAt, type Way } from '../platforms/platform.ts';
import type { System } from '../platforms/system.ts';

/** Completed payments a second that are promised on two cores with everything on them. */
const PROMISED: Readonly<Record<string, number>> = {
  embedded: 200,
  'RabbitMQ, all in one': 300,
  'RabbitMQ, a process each': 200,
};
const AGAINST_LEAST = 0.9;
const OUTCOME_TO_WEBHOOK_MS = { p50: 14, p99: 50 };
const COMMITS_WHEN_SATURATED = 2.5;
/** Of the platform before writes shared statements. */
const AGAINST_COMMIT: Readonly<Record<Way, number>> = { embedded: 1.7, rabbitmq: 1.7, distributed: 1.4 };
const CPU_AGAINST_COMMIT = 0.5;
const WAYS: readonly Way[] = ['embedded', 'rabbitmq', 'distributed'];

export async function measurePayments(options: PartOptions): Promise<Section> {
  const { against } = options;
  const ways = WAYS.flatMap((way) => [...(against === undefined ? [] : [platformAt(against, way)]), platform(way)]);
  const systems = [...ways, leastCode];
  const runs = await measureAlternating(systems, 0, options);
  const allInOne = runs.filter(({ system }) => system === 'RabbitMQ, all in one');
  const figures: Figure[] = Object.entries(PROMISED).map(([system, promised]) => ({
    name: `completed hosted payments, ${system}`,
    value: median(runs.filter((run) => run.system === system).map((run) => run.completedPerSecond)),
    unit: 'a second',
    promised,
  }));
  const rateOf = (system: string): number =>
    median(runs.filter((run) => run.system === system).map(({ completedPerSecond }) => completedPerSecond));
  figures.push({
    name: 'RabbitMQ, all in one, against the least code',
    value: rateOf('RabbitMQ, all in one') / rateOf(leastCode.name),
    unit: '',
    promised: AGAINST_LEAST,
  });
  for (const percentile of ['p50', 'p99'] as const)
    figures.push({
      name: `outcome → webhook at half load, ${percentile}, RabbitMQ, all in one`,
      value: median(allInOne.map(({ halfLoad }) => halfLoad.latency.outcomeToWebhook[percentile])),
      unit: 'ms',
      promised: OUTCOME_TO_WEBHOOK_MS[percentile],
      direction: 'most',
    });
  figures.push({
    name: 'commits for one payment when saturated, RabbitMQ, all in one',
    value: median(allInOne.map(({ saturated }) => saturated.perPayment.commits)),
    unit: '',
    promised: COMMITS_WHEN_SATURATED,
    direction: 'most',
  });
  if (against !== undefined) figures.push(...WAYS.flatMap((way) => comparison(runs, way, against)));
  return {
    title: 'Hosted payment: session, page, charge, ledger, webhook',
    tables: [rates(runs), legs(runs), costAtHalfLoad(runs), costSaturated(runs)],
    plots: [...new Map(runs.map((run) => [run.system, run])).values()].map(staircase),
    figures,
    problems: problemsOf(runs),
    data: runs,
  };
}

/** Every system once, then every system again: what disturbs the machine for a while disturbs all of them. */
export async function measureAlternating(
  systems: readonly System[],
  acquirerLatencyMs: number,
  { rounds, seconds, say }: PartOptions,
): Promise<Measured[]> {
  const runs: Measured[] = [];
  for (let round = 1; round <= rounds; round++) {
    for (const system of systems) {
      say(`round ${round} of ${rounds}, ${system.name}`);
      const staircase = {
        acquirerLatencyMs,
        warmUpSeconds: 2 * seconds,
        halfLoadSeconds: seconds,
        stepSeconds: seconds,
      };
      runs.push(await measure(system, staircase, say));
    }
  }
  return runs;
}

export function problemsOf(runs: readonly Measured[]): string[] {
  return runs.flatMap(({ system, books }) =>
    books.disagreement === undefined ? [] : [`${system}: ${books.disagreement}`],
  );
}

function bySystem(runs: readonly Measured[]): [string, Measured[]][] {
  return [...new Set(runs.map(({ system }) => system))].map((system) => [
    system,
    runs.filter((run) => run.system === system),
  ]);
}

export function rates(runs: readonly Measured[]): Table {
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
      return [system, rounded(median(perSecond)), perSecond.map(rounded).join(', '), sums.join(' = ')];
    }),
  };
}

export function legs(runs: readonly Measured[]): Table {
  return {
    title: 'Latency at half load in ms, p50 / p95 / p99',
    columns: ['', 'session', 'page', 'pay', 'outcome → webhook', 'whole'],
    rows: bySystem(runs).map(([system, own]) => [
      system,
      ...(['session', 'page', 'pay', 'outcomeToWebhook', 'whole'] as const).map((leg) =>
        (['p50', 'p95', 'p99'] as const)
          .map((percentile) => rounded(median(own.map(({ halfLoad }) => halfLoad.latency[leg][percentile]))))
          .join(' / '),
      ),
    ]),
  };
}

/** Figures of the platform as it is, divided by those of the platform at the commit, both measured in this run. */
function comparison(runs: readonly Measured[], way: Way, commit: string): Figure[] {
  const ratio = (of: (run: Measured) => number): number => {
    const [after, before] = [NAMES[way], `${NAMES[way]}, at ${commit}`].map((system) =>
      median(runs.filter((run) => run.system === system).map(of)),
    );
    return after! / before!;
  };
  const name = (what: string): string => `${what}, ${NAMES[way]}, against ${commit}`;
  return [
    {
      name: name('completed'),
      value: ratio(({ completedPerSecond }) => completedPerSecond),
      unit: '',
      promised: AGAINST_COMMIT[way],
    },
    {
      name: name('processor time of a payment when saturated'),
      value: ratio(({ saturated }) => systemCpuMs(saturated.cpuMs)),
      unit: '',
      promised: CPU_AGAINST_COMMIT,
      direction: 'most',
    },
  ];
}

type Cost = Pick<Measured['saturated'], 'cpuMs' | 'perPayment'>;

function costAtHalfLoad(runs: readonly Measured[]): Table {
  return cost(runs, 'at half load', ({ halfLoad, perPayment }) => ({ cpuMs: halfLoad.cpuMs, perPayment }));
}

function costSaturated(runs: readonly Measured[]): Table {
  return cost(runs, 'when the system is saturated', ({ saturated }) => saturated);
}

function cost(runs: readonly Measured[], when: string, of: (run: Measured) => Cost): Table {
  const groups = ['services', 'PostgreSQL', 'RabbitMQ', 'load'];
  return {
    title: `What one payment costs ${when}`,
    columns: ['', ...groups.map((group) => `${group}, CPU ms`), 'commits', 'WAL bytes', 'bytes on loopback'],
    rows: bySystem(runs).map(([system, own]) => [
      system,
      ...groups.map((group) => rounded(median(own.map((run) => of(run).cpuMs[group] ?? 0)))),
      ...(['commits', 'walBytes', 'loopbackBytes'] as const).map((count) =>
        rounded(median(own.map((run) => of(run).perPayment[count]))),
      ),
    ]),
  };
}

function staircase({ system, steps }: Measured): Plot {
  return {
    title: `${system}: from begin to webhook in ms, p50 and p99, by offered payments a second`,
    x: { label: 'offered a second', points: steps.map(({ offeredPerSecond }) => rounded(offeredPerSecond)) },
    y: 'ms',
    lines: [steps.map(({ latency }) => latency.whole.p50), steps.map(({ latency }) => latency.whole.p99)],
  };
}
