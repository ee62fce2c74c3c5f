/** Part `payments` of the benchmark: measures the hosted payment on each deployment of the platform. */
import type { PartOptions } from '../main.ts';
import { median } from '../measuring/percentiles.ts';
import { minimalSystem } from '../minimal/system.ts';
import { type Deployment, DEPLOYMENT_NAMES, newPlatform, newPlatformAtCommit } from '../platforms/platform.ts';
import type { System } from '../platforms/system.ts';
import { type Figure, type Section, type Table, toThreeDigits } from '../report.ts';
import { type CostPerPayment, type Measurement, measureSideBySide, medianRatio, type Round } from './measure.ts';

/** The platform must reach at least this share of the rate of the minimal program (bench/minimal). */
const MIN_RATIO_TO_MINIMAL = 0.8;
const MAX_SATURATED_WAL_BYTES = 12_000;
/** Milliseconds from the outcome to the webhook at half load, p50 and p99. */
const MAX_OUTCOME_TO_WEBHOOK_MS: Readonly<Record<Deployment, readonly [number, number]>> = {
  embedded: [10, 45],
  rabbitmq: [20, 80],
  distributed: [20, 80],
};
/** The CPU of a payment against that at the commit `--against`. The values apply to 29c79893. */
const MAX_SERVICES_RATIO_TO_COMMIT: Readonly<Record<Deployment, number>> = {
  embedded: 0.65,
  rabbitmq: 0.65,
  distributed: 0.85,
};
const MAX_POSTGRESQL_RATIO_TO_COMMIT = 0.8;
const DEPLOYMENTS: readonly Deployment[] = ['embedded', 'rabbitmq', 'distributed'];

export async function measurePayments(options: PartOptions): Promise<Section> {
  const { against } = options;
  const platforms = DEPLOYMENTS.flatMap((deployment) => {
    if (against === undefined) return [newPlatform(deployment)];
    const atCommit = newPlatformAtCommit(against, deployment);
    return [atCommit, newPlatform(deployment, { halfLoadOf: atCommit.name })];
  });
  const measurements = await measurePlatforms([...platforms, minimalSystem], options);
  const find = (name: string): Measurement => measurements.find(({ system }) => system === name)!;
  const allInOne = find(DEPLOYMENT_NAMES.rabbitmq);
  const figures: Figure[] = [
    {
      name: `${allInOne.system}, against the least code`,
      value: medianRatio(allInOne, find(minimalSystem.name), getRate),
      unit: '',
      promised: MIN_RATIO_TO_MINIMAL,
    },
    {
      name: `WAL for one payment when saturated, ${allInOne.system}`,
      value: medianOf(allInOne, ({ saturated }) => saturated.cost.walBytes),
      unit: 'bytes',
      promised: MAX_SATURATED_WAL_BYTES,
      direction: 'most',
    },
  ];
  for (const deployment of DEPLOYMENTS)
    for (const [index, percentile] of (['p50', 'p99'] as const).entries())
      figures.push({
        name: `outcome → webhook at half load, ${percentile}, ${DEPLOYMENT_NAMES[deployment]}`,
        value: medianOf(
          find(DEPLOYMENT_NAMES[deployment]),
          ({ halfLoad }) => halfLoad.latency.outcomeToWebhook[percentile],
        ),
        unit: 'ms',
        promised: MAX_OUTCOME_TO_WEBHOOK_MS[deployment][index]!,
        direction: 'most',
      });
  if (against !== undefined)
    for (const deployment of DEPLOYMENTS) {
      const name = DEPLOYMENT_NAMES[deployment];
      figures.push(...compareWithCommit(find(name), find(`${name}, at ${against}`), against, deployment));
    }
  return {
    title: 'Hosted payment: session, page, charge, ledger, webhook',
    tables: [
      newRatesTable(measurements),
      newLatencyTable(measurements),
      newCostTable(measurements, 'at half load', ({ halfLoad }) => halfLoad.cost),
      newCostTable(measurements, 'when the system is saturated', ({ saturated }) => saturated.cost),
    ],
    figures,
    problems: findProblems(measurements),
    data: measurements,
  };
}

/** A slice takes half of a step, because the load returns to each system in every round. */
const SLICES_OF_STEP = 2;
const WARM_UP_PAYMENTS_PER_SECOND_OF_STEP = 400;

export function measurePlatforms(
  systems: readonly System[],
  { rounds, seconds, log }: PartOptions,
): Promise<Measurement[]> {
  const warmUpPayments = seconds * WARM_UP_PAYMENTS_PER_SECOND_OF_STEP;
  return measureSideBySide(systems, { rounds, sliceSeconds: seconds / SLICES_OF_STEP, warmUpPayments }, log);
}

export function findProblems(measurements: readonly Measurement[]): string[] {
  return measurements.flatMap(({ system, rounds, counts }) =>
    [counts.difference, ...rounds.map(({ halfLoad }) => halfLoad.failure)].flatMap((problem) =>
      problem === undefined ? [] : [`${system}: ${problem}`],
    ),
  );
}

export function getRate({ saturated }: Round): number {
  return saturated.completedPerSecond;
}

function medianOf({ rounds }: Measurement, getValue: (round: Round) => number): number {
  return median(rounds.map(getValue));
}

export function newRatesTable(measurements: readonly Measurement[]): Table {
  return {
    title: 'Completed payments a second, and the records of all rounds',
    columns: ['', 'median', 'rounds', 'charges = payments = transfers = notification ids'],
    rows: measurements.map((measurement) => {
      const { charges, payments, transfers, notificationIds } = measurement.counts;
      return [
        measurement.system,
        toThreeDigits(medianOf(measurement, getRate)),
        measurement.rounds.map((round) => toThreeDigits(getRate(round))).join(', '),
        [charges, payments, transfers, notificationIds].join(' = '),
      ];
    }),
  };
}

export function newLatencyTable(measurements: readonly Measurement[]): Table {
  return {
    title: 'Latency at half load in ms, p50 / p95 / p99',
    columns: ['', 'session', 'page', 'pay', 'outcome → webhook', 'total'],
    rows: measurements.map((measurement) => [
      measurement.system,
      ...(['session', 'page', 'pay', 'outcomeToWebhook', 'total'] as const).map((stage) =>
        (['p50', 'p95', 'p99'] as const)
          .map((percentile) =>
            toThreeDigits(medianOf(measurement, ({ halfLoad }) => halfLoad.latency[stage][percentile])),
          )
          .join(' / '),
      ),
    ]),
  };
}

/** Values of the current platform divided by those of the platform at the commit. Both are measured in the same rounds. */
function compareWithCommit(
  current: Measurement,
  atCommit: Measurement,
  commit: string,
  deployment: Deployment,
): Figure[] {
  const compare = (name: string, promised: number, getValue: (round: Round) => number): Figure => ({
    name: `${name}, ${current.system}, against ${commit}`,
    value: medianRatio(current, atCommit, getValue),
    unit: '',
    promised,
    direction: 'most',
  });
  return [
    compare(
      'CPU of the services for a payment when saturated',
      MAX_SERVICES_RATIO_TO_COMMIT[deployment],
      ({ saturated }) => saturated.cost.cpuMs['services'] ?? 0,
    ),
    compare(
      'CPU of PostgreSQL for a payment when saturated',
      MAX_POSTGRESQL_RATIO_TO_COMMIT,
      ({ saturated }) => saturated.cost.cpuMs['PostgreSQL'] ?? 0,
    ),
  ];
}

function newCostTable(
  measurements: readonly Measurement[],
  when: string,
  getCost: (round: Round) => CostPerPayment,
): Table {
  const groups = ['services', 'PostgreSQL', 'RabbitMQ', 'load'];
  return {
    title: `Cost of one payment ${when}`,
    columns: ['', ...groups.map((group) => `${group}, CPU ms`), 'commits', 'WAL bytes', 'bytes on loopback'],
    rows: measurements.map((measurement) => [
      measurement.system,
      ...groups.map((group) => toThreeDigits(medianOf(measurement, (round) => getCost(round).cpuMs[group] ?? 0))),
      ...(['commits', 'walBytes', 'loopbackBytes'] as const).map((count) =>
        toThreeDigits(medianOf(measurement, (round) => getCost(round)[count])),
      ),
    ]),
  };
}
