/**
 * Measures the hosted payment on one system: warm-up, then a staircase of offered load. The highest step that is still
 * carried is its rate; at half of the warm-up's rate the latency of each leg and the cost of one payment are taken.
 */
import { cpuOf, type CpuMs, difference, loopbackBytes } from '../measuring/cpu.ts';
import { runClosedLoad, runOpenLoad } from '../measuring/open-loop.ts';
import { type Percentiles, percentilesOf } from '../measuring/percentiles.ts';
import { type Books, compareBooks } from './books.ts';
import { MerchantEndpoint } from './merchant-endpoint.ts';
import { type PaidAt, Payers } from './payer.ts';
import type { RunningSystem, System } from './system.ts';

export interface Staircase {
  readonly acquirerLatencyMs: number;
  readonly warmUpSeconds: number;
  readonly halfLoadSeconds: number;
  readonly stepSeconds: number;
}

export interface Step {
  readonly offeredPerSecond: number;
  /** Sessions created and charged a second within the step. */
  readonly acceptedPerSecond: number;
  /** Webhooks acknowledged a second within the step. */
  readonly completedPerSecond: number;
  readonly latency: Legs;
  /** Milliseconds of CPU for each completed payment, by group; `load` is this program. */
  readonly cpuMs: CpuMs;
  readonly failed: string | undefined;
}

/** Milliseconds. */
export interface Legs {
  readonly session: Percentiles;
  readonly page: Percentiles;
  readonly pay: Percentiles;
  /** From the outcome's own time, as the payment's record has it, until the webhook is at the merchant. */
  readonly outcomeToWebhook: Percentiles;
  /** From the time the payer was to begin until the webhook is at the merchant. */
  readonly whole: Percentiles;
}

export interface Measured {
  readonly system: string;
  readonly acquirerLatencyMs: number;
  readonly halfLoad: Step;
  readonly steps: readonly Step[];
  /** Of the highest step that was carried. */
  readonly completedPerSecond: number;
  readonly perPayment: Counts;
  readonly books: Books;
}

/** For each payment, counted by PostgreSQL and the kernel over all steps. */
export interface Counts {
  readonly commits: number;
  readonly walBytes: number;
  /** Everything on loopback: HTTP, PostgreSQL, RabbitMQ. */
  readonly loopbackBytes: number;
}

const WARM_UP_WORKERS = 48;
const UNDER_WAY_MAX = 4_000;
/** A step is carried when so much of the offered load was completed in time, and nobody waited longer than this. */
const CARRIED_SHARE = 0.95;
const WHOLE_P99_MAX_MS = 2_000;
const STAIRS = [0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.3];

export async function measure(system: System, staircase: Staircase, say: (line: string) => void): Promise<Measured> {
  const { acquirerLatencyMs } = staircase;
  const running = await system.start(acquirerLatencyMs);
  const endpoint = await MerchantEndpoint.start(running.merchant.webhookSecret);
  const payers = new Payers(running.merchant, endpoint);
  try {
    const run = new Run(running, endpoint, payers, acquirerLatencyMs);
    const warm = await run.warmUp(staircase.warmUpSeconds);
    say(`${system.name}: warm, about ${warm.toFixed(0)} a second`);
    const before = await run.counters();
    const halfLoad = await run.step(warm / 2, staircase.halfLoadSeconds);
    const perPayment = await run.countsSince(before);
    say(`${system.name}: ${describe(halfLoad)}`);
    const steps = [halfLoad];
    for (const share of STAIRS) {
      const step = await run.step(warm * share, staircase.stepSeconds);
      steps.push(step);
      say(`${system.name}: ${describe(step)}`);
      if (step.failed !== undefined) break;
    }
    const books = await compareBooks(running, endpoint, run.flows);
    const carried = steps.filter(({ failed }) => failed === undefined).map((step) => step.completedPerSecond);
    const completedPerSecond = Math.max(0, ...carried);
    return { system: system.name, acquirerLatencyMs, halfLoad, steps, completedPerSecond, perPayment, books };
  } finally {
    await payers.close();
    await running.stop();
    await endpoint.stop();
  }
}

class Run {
  /** Payments begun. */
  flows = 0;

  private readonly running: RunningSystem;
  private readonly endpoint: MerchantEndpoint;
  private readonly payers: Payers;
  private readonly acquirerLatencyMs: number;

  constructor(running: RunningSystem, endpoint: MerchantEndpoint, payers: Payers, acquirerLatencyMs: number) {
    this.running = running;
    this.endpoint = endpoint;
    this.payers = payers;
    this.acquirerLatencyMs = acquirerLatencyMs;
  }

  /** Returns the payments a second of payers who wait for their webhook before they pay again. */
  async warmUp(seconds: number): Promise<number> {
    const pay = async (): Promise<void> => {
      this.flows++;
      await this.payers.pay(performance.now());
    };
    // Payers who wait for the bank keep nobody busy: there must be more of them.
    const workers = WARM_UP_WORKERS + Math.ceil((this.acquirerLatencyMs / 1_000) * 250);
    await runClosedLoad(workers, seconds / 2, pay);
    const startedAt = performance.now();
    const done = await runClosedLoad(workers, seconds / 2, pay);
    return done / ((performance.now() - startedAt) / 1_000);
  }

  async step(perSecond: number, seconds: number): Promise<Step> {
    const paid: PaidAt[] = [];
    const references = this.endpoint.heard.size;
    const cpuBefore = this.cpu();
    const startedAt = performance.now();
    const { begun, refused, errors } = await runOpenLoad({
      perSecond,
      seconds,
      underWayMax: UNDER_WAY_MAX,
      work: async (dueAt) => {
        this.flows++;
        paid.push(await this.payers.pay(dueAt));
      },
    });
    // What is still under way when the last payment of the step has begun was not done within it.
    const endedAt = startedAt + seconds * 1_000 + this.acquirerLatencyMs;
    const within = (times: readonly number[]): number => times.filter((time) => time <= endedAt).length / seconds;
    const completedPerSecond = within(paid.map(({ webhook }) => webhook));
    const acceptedPerSecond = within(paid.map((one) => one.paid));
    const cpu = difference(this.cpu(), cpuBefore);
    const latency = await this.legs(paid, references);
    const whyNotCarried = (): string | undefined => {
      if (errors.length > 0) return `${errors.length} of ${begun} failed: ${String(errors[0])}`;
      if (refused > 0) return `${refused} could not begin`;
      if (completedPerSecond < CARRIED_SHARE * (begun / seconds)) return 'not completed in time';
      if (latency.whole.p99 <= WHOLE_P99_MAX_MS + this.acquirerLatencyMs) return undefined;
      return `one in a hundred took ${(latency.whole.p99 / 1_000).toFixed(1)} s`;
    };
    return {
      offeredPerSecond: perSecond,
      acceptedPerSecond,
      completedPerSecond,
      latency,
      cpuMs: Object.fromEntries(Object.entries(cpu).map(([group, used]) => [group, used / paid.length])),
      failed: whyNotCarried(),
    };
  }

  async counters(): Promise<{ flows: number; commits: number; wal: number; loopback: number }> {
    const [row] = await this.running.sql<{ commits: string; wal: string }>(
      `SELECT xact_commit AS commits, pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') AS wal
         FROM pg_stat_database WHERE datname = current_database()`,
    );
    return { flows: this.flows, commits: Number(row!.commits), wal: Number(row!.wal), loopback: loopbackBytes() };
  }

  async countsSince(before: Awaited<ReturnType<Run['counters']>>): Promise<Counts> {
    const after = await this.counters();
    const flows = after.flows - before.flows;
    return {
      commits: (after.commits - before.commits) / flows,
      walBytes: (after.wal - before.wal) / flows,
      loopbackBytes: (after.loopback - before.loopback) / flows,
    };
  }

  private async legs(paid: readonly PaidAt[], heardBefore: number): Promise<Legs> {
    const outcomes = await this.running.sql<{ payment_reference: string; at: string }>(
      `SELECT payment_reference, extract(epoch FROM modified_at) * 1000 AS at FROM payment_processor.payments`,
    );
    const outcomeOf = new Map(outcomes.map((row) => [row.payment_reference, Number(row.at)]));
    const heard = [...this.endpoint.heard.values()].slice(heardBefore);
    return {
      session: percentilesOf(paid.map(({ dueAt, session }) => session - dueAt)),
      page: percentilesOf(paid.map(({ session, page }) => page - session)),
      pay: percentilesOf(paid.map((one) => one.paid - one.encrypted)),
      outcomeToWebhook: percentilesOf(heard.map(({ paymentReference, at }) => at - outcomeOf.get(paymentReference)!)),
      whole: percentilesOf(paid.map(({ dueAt, webhook }) => webhook - dueAt)),
    };
  }

  private cpu(): CpuMs {
    const { user, system } = process.cpuUsage();
    return { ...cpuOf(this.running.groups), load: (user + system) / 1_000 };
  }
}

function describe({ offeredPerSecond, completedPerSecond, latency, failed }: Step): string {
  const { p50, p99 } = latency.outcomeToWebhook;
  const what = `offered ${offeredPerSecond.toFixed(0)}, completed ${completedPerSecond.toFixed(0)} a second`;
  const when = `outcome to webhook ${p50.toFixed(0)}/${p99.toFixed(0)} ms (p50/p99), whole ${latency.whole.p50.toFixed(0)}/${latency.whole.p99.toFixed(0)} ms`;
  return failed === undefined ? `${what}, ${when}` : `${what}, ${when}; not carried: ${failed}`;
}
