/**
 * Measures the hosted payment on one system: warm-up by payers who pay again at once, then offered load that rises in steps.
 * The rate of a system is the highest step that it carries. The cost of a payment is measured twice: in the second half of
 * the warm-up, when the system is saturated, and at half of that rate, together with the latency of each leg.
 */
import { type CpuMs, cpuOf, difference, loopbackBytes } from '../measuring/cpu.ts';
import { runClosedLoad, runOpenLoad } from '../measuring/open-loop.ts';
import { type Percentiles, percentilesOf } from '../measuring/percentiles.ts';
import type { RunningSystem, System } from '../platforms/system.ts';
import { type Books, compareBooks } from './books.ts';
import { MerchantEndpoint } from './merchant-endpoint.ts';
import { Payers, type PaymentTimings } from './payer.ts';

export interface Staircase {
  readonly acquirerLatencyMs: number;
  readonly warmUpSeconds: number;
  readonly halfLoadSeconds: number;
  readonly stepSeconds: number;
}

export interface Step {
  readonly offeredPerSecond: number;
  /** Payments that began in the step and were charged, or completed, within {@link MAX_DURATION_MS}, a second. */
  readonly acceptedPerSecond: number;
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
  /** From the time of the outcome in the payment's record until the webhook is at the merchant. */
  readonly outcomeToWebhook: Percentiles;
  /** From the time when the payer was due to begin until the webhook is at the merchant. */
  readonly whole: Percentiles;
}

export interface Measurement {
  readonly system: string;
  readonly acquirerLatencyMs: number;
  readonly saturated: Saturated;
  readonly halfLoad: Step;
  readonly steps: readonly Step[];
  /** Of the highest step that the system carried. */
  readonly completedPerSecond: number;
  readonly perPayment: CostOfPayment;
  readonly books: Books;
}

/** Of the warm-up, in which payers wait for their webhook and pay again at once. */
export interface Saturated {
  readonly completedPerSecond: number;
  /** For each payment, as of a step. */
  readonly cpuMs: CpuMs;
  readonly perPayment: CostOfPayment;
}

/** For each payment, counted by PostgreSQL and the kernel. */
export interface CostOfPayment {
  readonly commits: number;
  readonly walBytes: number;
  /** Everything on loopback: HTTP, PostgreSQL, RabbitMQ. */
  readonly loopbackBytes: number;
}

const WARM_UP_WORKERS = 48;
const MAX_IN_FLIGHT = 4_000;
/** A payment is in time when its webhook arrives within this time after the payment was due; the acquirer's time is added. */
const MAX_DURATION_MS = 2_000;
/** The system carries a step when it completes at least this share of the payments in time. */
const MIN_COMPLETED_SHARE = 0.95;
const LOAD_STEPS = [0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.3];

export async function measure(system: System, staircase: Staircase, log: (line: string) => void): Promise<Measurement> {
  const { acquirerLatencyMs } = staircase;
  const running = await system.start(acquirerLatencyMs);
  const endpoint = await MerchantEndpoint.start(running.merchant.webhookSecret);
  const payers = new Payers(running.merchant, endpoint);
  try {
    const run = new Run(running, endpoint, payers, acquirerLatencyMs);
    const saturated = await run.warmUp(staircase.warmUpSeconds);
    const warm = saturated.completedPerSecond;
    log(`${system.name}: warm, about ${warm.toFixed(0)} a second, ${describeCost(saturated)}`);
    const before = await run.counters();
    const halfLoad = await run.step(warm / 2, staircase.halfLoadSeconds);
    const perPayment = await run.costSince(before);
    log(`${system.name}: ${describe(halfLoad)}`);
    const steps = [halfLoad];
    for (const share of LOAD_STEPS) {
      const step = await run.step(warm * share, staircase.stepSeconds);
      steps.push(step);
      log(`${system.name}: ${describe(step)}`);
      if (step.failed !== undefined) break;
    }
    const books = await compareBooks(running, endpoint, run.flows);
    const carried = steps.filter(({ failed }) => failed === undefined).map((step) => step.completedPerSecond);
    const completedPerSecond = Math.max(0, ...carried);
    const { name } = system;
    return { system: name, acquirerLatencyMs, saturated, halfLoad, steps, completedPerSecond, perPayment, books };
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

  async warmUp(seconds: number): Promise<Saturated> {
    const pay = async (): Promise<void> => {
      this.flows++;
      await this.payers.pay(performance.now());
    };
    // While payers wait for the acquirer they cause no load, so a slow acquirer needs more of them.
    const workers = WARM_UP_WORKERS + Math.ceil((this.acquirerLatencyMs / 1_000) * 250);
    await runClosedLoad(workers, seconds / 2, pay);
    const before = await this.counters();
    const cpuBefore = this.cpu();
    const startedAt = performance.now();
    const done = await runClosedLoad(workers, seconds / 2, pay);
    const completedPerSecond = done / ((performance.now() - startedAt) / 1_000);
    const cpuMs = dividedBy(difference(this.cpu(), cpuBefore), done);
    return { completedPerSecond, cpuMs, perPayment: await this.costSince(before) };
  }

  async step(perSecond: number, seconds: number): Promise<Step> {
    const timings: PaymentTimings[] = [];
    const references = this.endpoint.notified.size;
    const cpuBefore = this.cpu();
    const { started, refused, errors } = await runOpenLoad({
      perSecond,
      seconds,
      maxInFlight: MAX_IN_FLIGHT,
      work: async (dueAt) => {
        this.flows++;
        timings.push(await this.payers.pay(dueAt));
      },
    });
    const maxDurationMs = MAX_DURATION_MS + this.acquirerLatencyMs;
    const rateInTime = (of: (one: PaymentTimings) => number): number =>
      timings.filter((one) => of(one) - one.dueAt <= maxDurationMs).length / seconds;
    const completedPerSecond = rateInTime(({ webhook }) => webhook);
    const acceptedPerSecond = rateInTime((one) => one.paid);
    const cpu = difference(this.cpu(), cpuBefore);
    const latency = await this.legs(timings, references);
    const findFailure = (): string | undefined => {
      if (errors.length > 0) return `${errors.length} of ${started} failed: ${String(errors[0])}`;
      if (refused > 0) return `${refused} could not begin`;
      return completedPerSecond < MIN_COMPLETED_SHARE * (started / seconds) ? 'not completed in time' : undefined;
    };
    return {
      offeredPerSecond: perSecond,
      acceptedPerSecond,
      completedPerSecond,
      latency,
      cpuMs: dividedBy(cpu, timings.length),
      failed: findFailure(),
    };
  }

  async counters(): Promise<{ flows: number; commits: number; wal: number; loopback: number }> {
    const [row] = await this.running.sql<{ commits: string; wal: string }>(
      `SELECT xact_commit AS commits, pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') AS wal
         FROM pg_stat_database WHERE datname = current_database()`,
    );
    return { flows: this.flows, commits: Number(row!.commits), wal: Number(row!.wal), loopback: loopbackBytes() };
  }

  async costSince(before: Awaited<ReturnType<Run['counters']>>): Promise<CostOfPayment> {
    const after = await this.counters();
    const flows = after.flows - before.flows;
    return {
      commits: (after.commits - before.commits) / flows,
      walBytes: (after.wal - before.wal) / flows,
      loopbackBytes: (after.loopback - before.loopback) / flows,
    };
  }

  private async legs(paid: readonly PaymentTimings[], receivedBefore: number): Promise<Legs> {
    const outcomes = await this.running.sql<{ payment_reference: string; at: string }>(
      `SELECT payment_reference, extract(epoch FROM modified_at) * 1000 AS at FROM payment_processor.payments`,
    );
    const outcomeOf = new Map(outcomes.map((row) => [row.payment_reference, Number(row.at)]));
    const received = [...this.endpoint.notified.values()].slice(receivedBefore);
    return {
      session: percentilesOf(paid.map(({ dueAt, session }) => session - dueAt)),
      page: percentilesOf(paid.map(({ session, page }) => page - session)),
      pay: percentilesOf(paid.map((one) => one.paid - one.encrypted)),
      outcomeToWebhook: percentilesOf(
        received.map(({ paymentReference, at }) => at - outcomeOf.get(paymentReference)!),
      ),
      whole: percentilesOf(paid.map(({ dueAt, webhook }) => webhook - dueAt)),
    };
  }

  private cpu(): CpuMs {
    const { user, system } = process.cpuUsage();
    return { ...cpuOf(this.running.groups), load: (user + system) / 1_000 };
  }
}

function dividedBy(cpu: CpuMs, payments: number): CpuMs {
  return Object.fromEntries(Object.entries(cpu).map(([group, used]) => [group, used / payments]));
}

/** CPU of services, PostgreSQL and RabbitMQ, without the bench's own. */
export function systemCpuMs(cpuMs: CpuMs): number {
  return Object.entries(cpuMs).reduce((sum, [group, used]) => (group === 'load' ? sum : sum + used), 0);
}

function describeCost({ cpuMs, perPayment }: Saturated): string {
  return `${systemCpuMs(cpuMs).toFixed(1)} ms of CPU and ${perPayment.commits.toFixed(1)} commits each`;
}

function describe({ offeredPerSecond, completedPerSecond, latency, failed }: Step): string {
  const { p50, p99 } = latency.outcomeToWebhook;
  const what = `offered ${offeredPerSecond.toFixed(0)}, completed ${completedPerSecond.toFixed(0)} a second`;
  const when = `outcome to webhook ${p50.toFixed(0)}/${p99.toFixed(0)} ms (p50/p99), whole ${latency.whole.p50.toFixed(0)}/${latency.whole.p99.toFixed(0)} ms`;
  return failed === undefined ? `${what}, ${when}` : `${what}, ${when}; not carried: ${failed}`;
}
