/** Part `checkout`: the whole flow from a cart to a captured payment, on the platform and on a common open-source shop. */
import type { PartOptions } from '../main.ts';
import { type CpuMs, cpuOf, difference, type Groups } from '../measuring/cpu.ts';
import { runClosedLoad } from '../measuring/open-loop.ts';
import { median } from '../measuring/percentiles.ts';
import { type Section, toThreeDigits } from '../report.ts';
import { hostedPayment } from './hosted-payment-checkout.ts';
import { vendure } from './vendure.ts';

const MIN_VENDURE_CPU_RATIO = 10;
/** Customers at once: enough to keep both processors busy, too few to queue for seconds. */
const CUSTOMERS = 24;

export interface RunningCheckout {
  readonly groups: Groups;
  /** One whole flow. */
  buy(): Promise<void>;
  /** Compares the books after the run; undefined when they agree. */
  problem(): Promise<string | undefined>;
  stop(): Promise<void>;
}

export interface Checkout {
  /** The name in the report. */
  readonly name: string;
  /** The work that only this checkout does. */
  readonly remark: string;
  start(): Promise<RunningCheckout>;
}

interface Measurement {
  readonly checkout: string;
  readonly perSecond: number;
  /** Milliseconds for each flow; `load` is this program. */
  readonly cpuMs: CpuMs;
  readonly problem: string | undefined;
}

export async function measureCheckout({ rounds, seconds, log }: PartOptions): Promise<Section> {
  const checkouts = [hostedPayment, vendure];
  const runs: Measurement[] = [];
  for (let round = 1; round <= rounds; round++)
    for (const checkout of checkouts) {
      const run = await measure(checkout, seconds);
      log(
        `round ${round} of ${rounds}, ${run.checkout}: ${run.problem ?? `${toThreeDigits(run.perSecond)} flows a second`}`,
      );
      runs.push(run);
    }
  const medianOf = (checkout: Checkout, figure: (run: Measurement) => number): number =>
    median(runs.filter((run) => run.checkout === checkout.name).map(figure));
  const system = ({ cpuMs }: Measurement): number => (cpuMs['services'] ?? 0) + (cpuMs['PostgreSQL'] ?? 0);
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
          checkout.remark,
        ]),
      },
    ],
    plots: [],
    figures: [
      {
        name: "CPU of services and database for one flow, Vendure's over ours",
        value: medianOf(vendure, system) / medianOf(hostedPayment, system),
        unit: '',
        promised: MIN_VENDURE_CPU_RATIO,
      },
    ],
    problems: runs.flatMap(({ checkout, problem }) => (problem === undefined ? [] : [`${checkout}: ${problem}`])),
    data: runs,
  };
}

async function measure(checkout: Checkout, seconds: number): Promise<Measurement> {
  const running = await checkout.start();
  const used = (): CpuMs => {
    const { user, system } = process.cpuUsage();
    return { ...cpuOf(running.groups), load: (user + system) / 1_000 };
  };
  const buy = (): Promise<void> => running.buy();
  try {
    await runClosedLoad(CUSTOMERS, 2 * seconds, buy);
    const before = used();
    const startedAt = performance.now();
    const flows = await runClosedLoad(CUSTOMERS, 2 * seconds, buy);
    const perSecond = flows / ((performance.now() - startedAt) / 1_000);
    const cpu = difference(used(), before);
    return {
      checkout: checkout.name,
      perSecond,
      cpuMs: Object.fromEntries(Object.entries(cpu).map(([group, ms]) => [group, ms / flows])),
      problem: await running.problem(),
    };
  } finally {
    await running.stop();
  }
}
