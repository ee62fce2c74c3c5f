/**
 * Part `checkout` of the benchmark: measures the whole flow from a cart to a captured payment, on the platform and on
 * Vendure, a common open-source shop.
 */
import type { PartOptions } from '../main.ts';
import { type CpuMs, type ProcessGroups, readCpuMs, subtractCpu } from '../measuring/cpu.ts';
import { forSeconds, runClosedLoad } from '../measuring/open-loop.ts';
import { median } from '../measuring/percentiles.ts';
import { type Section, toThreeDigits } from '../report.ts';
import { platformCheckout } from './hosted-payment-checkout.ts';
import { vendureCheckout } from './vendure.ts';

/** For a flow, Vendure must need at least this many times as much CPU as the platform. */
const MIN_VENDURE_CPU_RATIO = 10;
/**
 * Customers who buy at the same time: enough to keep both processors busy, and too few to wait in a queue for seconds.
 */
const CUSTOMERS = 24;

export interface RunningCheckout {
  readonly groups: ProcessGroups;
  /** Runs one whole flow, from the cart to the captured payment. */
  buy(): Promise<void>;
  /** Compares the records after the run, and describes their differences. Undefined if there are none. */
  findProblem(): Promise<string | undefined>;
  stop(): Promise<void>;
}

export interface Checkout {
  /** The name in the report. */
  readonly name: string;
  /** The work that only this checkout does, for the report. */
  readonly description: string;
  start(): Promise<RunningCheckout>;
}

interface Measurement {
  readonly checkout: string;
  readonly perSecond: number;
  /** Milliseconds of CPU for each flow, by group of processes. `load` is this program. */
  readonly cpuMs: CpuMs;
  readonly problem: string | undefined;
}

export async function measureCheckout({ rounds, seconds, log }: PartOptions): Promise<Section> {
  const checkouts = [platformCheckout, vendureCheckout];
  const runs: Measurement[] = [];
  for (let round = 1; round <= rounds; round++)
    for (const checkout of checkouts) {
      const run = await measureOnce(checkout, seconds);
      log(
        `round ${round} of ${rounds}, ${run.checkout}: ${run.problem ?? `${toThreeDigits(run.perSecond)} flows a second`}`,
      );
      runs.push(run);
    }
  const medianOf = (checkout: Checkout, getValue: (run: Measurement) => number): number =>
    median(runs.filter((run) => run.checkout === checkout.name).map(getValue));
  const totalCpuMs = ({ cpuMs }: Measurement): number => (cpuMs['services'] ?? 0) + (cpuMs['PostgreSQL'] ?? 0);
  return {
    title: 'The whole flow, from cart to captured payment',
    tables: [
      {
        title: 'Flows a second, and CPU ms for one',
        columns: ['', 'flows a second', 'services', 'PostgreSQL', 'load', 'extra work'],
        rows: checkouts.map((checkout) => [
          checkout.name,
          toThreeDigits(medianOf(checkout, ({ perSecond }) => perSecond)),
          ...['services', 'PostgreSQL', 'load'].map((group) =>
            toThreeDigits(medianOf(checkout, ({ cpuMs }) => cpuMs[group] ?? 0)),
          ),
          checkout.description,
        ]),
      },
    ],
    figures: [
      {
        name: "CPU of services and database for one flow, Vendure's over ours",
        value: medianOf(vendureCheckout, totalCpuMs) / medianOf(platformCheckout, totalCpuMs),
        unit: '',
        promised: MIN_VENDURE_CPU_RATIO,
      },
    ],
    problems: runs.flatMap(({ checkout, problem }) => (problem === undefined ? [] : [`${checkout}: ${problem}`])),
    data: runs,
  };
}

async function measureOnce(checkout: Checkout, seconds: number): Promise<Measurement> {
  const running = await checkout.start();
  const readCpu = (): CpuMs => {
    const { user, system } = process.cpuUsage();
    return { ...readCpuMs(running.groups), load: (user + system) / 1_000 };
  };
  const buy = (): Promise<void> => running.buy();
  try {
    await runClosedLoad(CUSTOMERS, forSeconds(2 * seconds), buy); // warm-up
    const before = readCpu();
    const startedAt = performance.now();
    const flows = await runClosedLoad(CUSTOMERS, forSeconds(2 * seconds), buy);
    const perSecond = flows / ((performance.now() - startedAt) / 1_000);
    const cpu = subtractCpu(readCpu(), before);
    return {
      checkout: checkout.name,
      perSecond,
      cpuMs: Object.fromEntries(Object.entries(cpu).map(([group, ms]) => [group, ms / flows])),
      problem: await running.findProblem(),
    };
  } finally {
    await running.stop();
  }
}
