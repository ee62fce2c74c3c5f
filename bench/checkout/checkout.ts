/** Part `checkout`: the whole flow from a cart to a captured payment, ours and that of a shop people would use. */
import type { PartOptions } from '../main.ts';
import { cpuOf, type CpuMs, difference, type Groups } from '../measuring/cpu.ts';
import { runClosedLoad } from '../measuring/open-loop.ts';
import { median } from '../measuring/percentiles.ts';
import { rounded, type Section } from '../report.ts';
import { hostedPayment } from './hosted-payment-checkout.ts';
import { vendure } from './vendure.ts';

const VENDURE_OVER_OURS = 10;
/** Customers at once: enough to keep both processors busy, too few to queue for seconds. */
const CUSTOMERS = 24;

export interface RunningCheckout {
  readonly groups: Groups;
  /** One whole flow. */
  buy(): Promise<void>;
  /** What its books say afterwards; undefined when they agree. */
  problem(): Promise<string | undefined>;
  stop(): Promise<void>;
}

export interface Checkout {
  /** As the report calls it. */
  readonly name: string;
  /** What it does that the other does not. */
  readonly remark: string;
  start(): Promise<RunningCheckout>;
}

interface Measured {
  readonly checkout: string;
  readonly perSecond: number;
  /** Milliseconds for each flow; `load` is this program. */
  readonly cpuMs: CpuMs;
  readonly problem: string | undefined;
}

export async function measureCheckout({ rounds, seconds, say }: PartOptions): Promise<Section> {
  const checkouts = [hostedPayment, vendure];
  const runs: Measured[] = [];
  for (let round = 1; round <= rounds; round++)
    for (const checkout of checkouts) {
      const run = await measure(checkout, seconds);
      say(`round ${round} of ${rounds}, ${run.checkout}: ${run.problem ?? `${rounded(run.perSecond)} flows a second`}`);
      runs.push(run);
    }
  const middle = (checkout: Checkout, figure: (run: Measured) => number): number =>
    median(runs.filter((run) => run.checkout === checkout.name).map(figure));
  const system = ({ cpuMs }: Measured): number => (cpuMs['services'] ?? 0) + (cpuMs['PostgreSQL'] ?? 0);
  return {
    title: 'The whole flow, from cart to captured payment',
    tables: [
      {
        title: 'Flows a second, and CPU ms for one',
        columns: ['', 'flows a second', 'services', 'PostgreSQL', 'load', 'what it does that the other does not'],
        rows: checkouts.map((checkout) => [
          checkout.name,
          rounded(middle(checkout, ({ perSecond }) => perSecond)),
          ...['services', 'PostgreSQL', 'load'].map((group) =>
            rounded(middle(checkout, ({ cpuMs }) => cpuMs[group] ?? 0)),
          ),
          checkout.remark,
        ]),
      },
    ],
    plots: [],
    figures: [
      {
        name: "CPU of services and database for one flow, Vendure's over ours",
        value: middle(vendure, system) / middle(hostedPayment, system),
        unit: '',
        promised: VENDURE_OVER_OURS,
      },
    ],
    problems: runs.flatMap(({ checkout, problem }) => (problem === undefined ? [] : [`${checkout}: ${problem}`])),
    data: runs,
  };
}

async function measure(checkout: Checkout, seconds: number): Promise<Measured> {
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
