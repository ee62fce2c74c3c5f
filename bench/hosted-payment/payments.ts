/** Part `payments` of the benchmark: measures the hosted payment on each deployment of the platform. */
import type { PartOptions } from '../main.ts';
import { median } from '../measuring/percentiles.ts';
import { minimalSystem } from '../minimal/system.ts';
import { type Deployment, DEPLOYMENT_NAMES, newPlatform, newPlatformAtCommit } from '../platforms/platform.ts';
import type { System } from '../platforms/system.ts';
import { type Figure, type Plot, type Section, type Table, toThreeDigits } from '../report.ts';
import { type Measurement, measureSystem, systemCpuMs } from './measure.ts';

/**
 * Promised rate of completed payments per second on a machine with two cores that runs all servers and the load
 * generator.
 */
const PROMISED_RATES: Readonly<Record<string, number>> = {
  embedded: 200,
  'RabbitMQ, all in one': 300,
  'RabbitMQ, a process each': 200,
};
/** The platform must reach at least this share of the rate of the minimal program (bench/minimal). */
const MIN_RATIO_TO_MINIMAL = 0.9;
const MAX_OUTCOME_TO_WEBHOOK_MS = { p50: 14, p99: 50 };
const MAX_SATURATED_COMMITS = 2.5;
/**
 * The rate must be at least this many times the rate at the commit `--against`. The values apply to a commit in which
 * concurrent calls do not share statements (before ADR 35).
 */
const MIN_RATIO_TO_COMMIT: Readonly<Record<Deployment, number>> = { embedded: 1.7, rabbitmq: 1.7, distributed: 1.4 };
const MAX_CPU_RATIO_TO_COMMIT = 0.5;
const DEPLOYMENTS: readonly Deployment[] = ['embedded', 'rabbitmq', 'distributed'];

export async function measurePayments(options: PartOptions): Promise<Section> {
  const { against } = options;
  const platforms = DEPLOYMENTS.flatMap((deployment) => [
    ...(against === undefined ? [] : [newPlatformAtCommit(against, deployment)]),
    newPlatform(deployment),
  ]);
  const systems = [...platforms, minimalSystem];
  const runs = await measureAlternating(systems, 0, options);
  const allInOneRuns = runs.filter(({ system }) => system === 'RabbitMQ, all in one');
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
      value: median(allInOneRuns.map(({ halfLoad }) => halfLoad.latency.outcomeToWebhook[percentile])),
      unit: 'ms',
      promised: MAX_OUTCOME_TO_WEBHOOK_MS[percentile],
      direction: 'most',
    });
  figures.push({
    name: 'commits for one payment when saturated, RabbitMQ, all in one',
    value: median(allInOneRuns.map(({ saturation }) => saturation.perPayment.commits)),
    unit: '',
    promised: MAX_SATURATED_COMMITS,
    direction: 'most',
  });
  if (against !== undefined)
    figures.push(...DEPLOYMENTS.flatMap((deployment) => compareWithCommit(runs, deployment, against)));
  return {
    title: 'Hosted payment: session, page, charge, ledger, webhook',
    tables: [newRatesTable(runs), newLatencyTable(runs), newHalfLoadCostTable(runs), newSaturatedCostTable(runs)],
    plots: [...new Map(runs.map((run) => [run.system, run])).values()].map(newLatencyPlot),
    figures,
    problems: findProblems(runs),
    data: runs,
  };
}

/** Measures each system once in each round, so that other load on the machine affects all systems alike. */
export async function measureAlternating(
  systems: readonly System[],
  acquirerLatencyMs: number,
  { rounds, seconds, log }: PartOptions,
): Promise<Measurement[]> {
  const runs: Measurement[] = [];
  for (let round = 1; round <= rounds; round++) {
    for (const system of systems) {
      log(`round ${round} of ${rounds}, ${system.name}`);
      const plan = {
        acquirerLatencyMs,
        warmUpSeconds: 2 * seconds,
        halfLoadSeconds: seconds,
        stepSeconds: seconds,
      };
      runs.push(await measureSystem(system, plan, log));
    }
  }
  return runs;
}

export function findProblems(runs: readonly Measurement[]): string[] {
  return runs.flatMap(({ system, counts }) =>
    counts.difference === undefined ? [] : [`${system}: ${counts.difference}`],
  );
}

function groupBySystem(runs: readonly Measurement[]): [string, Measurement[]][] {
  return [...new Set(runs.map(({ system }) => system))].map((system) => [
    system,
    runs.filter((run) => run.system === system),
  ]);
}

export function newRatesTable(runs: readonly Measurement[]): Table {
  return {
    title: 'Completed payments a second, and the records of all rounds',
    columns: ['', 'median', 'rounds', 'charges = payments = transfers = notification ids'],
    rows: groupBySystem(runs).map(([system, systemRuns]) => {
      const perSecond = systemRuns.map(({ completedPerSecond }) => completedPerSecond);
      const countRows = systemRuns.map(({ counts: { charges, payments, transfers, notificationIds } }) => [
        charges,
        payments,
        transfers,
        notificationIds,
      ]);
      const sums = [0, 1, 2, 3].map((column) => countRows.reduce((sum, row) => sum + row[column]!, 0));
      return [system, toThreeDigits(median(perSecond)), perSecond.map(toThreeDigits).join(', '), sums.join(' = ')];
    }),
  };
}

export function newLatencyTable(runs: readonly Measurement[]): Table {
  return {
    title: 'Latency at half load in ms, p50 / p95 / p99',
    columns: ['', 'session', 'page', 'pay', 'outcome → webhook', 'total'],
    rows: groupBySystem(runs).map(([system, systemRuns]) => [
      system,
      ...(['session', 'page', 'pay', 'outcomeToWebhook', 'total'] as const).map((leg) =>
        (['p50', 'p95', 'p99'] as const)
          .map((percentile) =>
            toThreeDigits(median(systemRuns.map(({ halfLoad }) => halfLoad.latency[leg][percentile]))),
          )
          .join(' / '),
      ),
    ]),
  };
}

/** Values of the current platform divided by those of the platform at the commit. Both are measured in the same run. */
function compareWithCommit(runs: readonly Measurement[], deployment: Deployment, commit: string): Figure[] {
  const ratio = (getValue: (run: Measurement) => number): number => {
    const [after, before] = [DEPLOYMENT_NAMES[deployment], `${DEPLOYMENT_NAMES[deployment]}, at ${commit}`].map(
      (system) => median(runs.filter((run) => run.system === system).map(getValue)),
    );
    return after! / before!;
  };
  const newName = (measuredValue: string): string =>
    `${measuredValue}, ${DEPLOYMENT_NAMES[deployment]}, against ${commit}`;
  return [
    {
      name: newName('completed'),
      value: ratio(({ completedPerSecond }) => completedPerSecond),
      unit: '',
      promised: MIN_RATIO_TO_COMMIT[deployment],
    },
    {
      name: newName('processor time of a payment when saturated'),
      value: ratio(({ saturation }) => systemCpuMs(saturation.cpuMs)),
      unit: '',
      promised: MAX_CPU_RATIO_TO_COMMIT,
      direction: 'most',
    },
  ];
}

type Cost = Pick<Measurement['saturation'], 'cpuMs' | 'perPayment'>;

function newHalfLoadCostTable(runs: readonly Measurement[]): Table {
  return newCostTable(runs, 'at half load', ({ halfLoad, perPayment }) => ({ cpuMs: halfLoad.cpuMs, perPayment }));
}

function newSaturatedCostTable(runs: readonly Measurement[]): Table {
  return newCostTable(runs, 'when the system is saturated', ({ saturation }) => saturation);
}

function newCostTable(runs: readonly Measurement[], when: string, getCost: (run: Measurement) => Cost): Table {
  const groups = ['services', 'PostgreSQL', 'RabbitMQ', 'load'];
  return {
    title: `Cost of one payment ${when}`,
    columns: ['', ...groups.map((group) => `${group}, CPU ms`), 'commits', 'WAL bytes', 'bytes on loopback'],
    rows: groupBySystem(runs).map(([system, systemRuns]) => [
      system,
      ...groups.map((group) => toThreeDigits(median(systemRuns.map((run) => getCost(run).cpuMs[group] ?? 0)))),
      ...(['commits', 'walBytes', 'loopbackBytes'] as const).map((count) =>
        toThreeDigits(median(systemRuns.map((run) => getCost(run).perPayment[count]))),
      ),
    ]),
  };
}

function newLatencyPlot({ system, steps }: Measurement): Plot {
  return {
    title: `${system}: from start to webhook in ms, p50 and p99, by offered payments a second`,
    x: { label: 'offered a second', points: steps.map(({ offeredPerSecond }) => toThreeDigits(offeredPerSecond)) },
    y: 'ms',
    lines: [steps.map(({ latency }) => latency.total.p50), steps.map(({ latency }) => latency.total.p99)],
  };
}
