/**
 * Measures the hosted payment on one system. A run begins with a warm-up, in which each payer pays again immediately,
 * so that the system is saturated. Then it offers load in steps, each higher than the previous. The rate of a system is
 * the rate of the highest step that it sustains. The cost of a payment is measured twice: in the second half of the
 * warm-up, and in a step at half of the saturated rate, together with the latency of each stage.
 */
import { type CpuMs, readCpuMs, readLoopbackBytes, subtractCpu } from '../measuring/cpu.ts';
import { runClosedLoad, runOpenLoad } from '../measuring/open-loop.ts';
import { computePercentiles, type Percentiles } from '../measuring/percentiles.ts';
import type { RunningSystem, System } from '../platforms/system.ts';
import { MerchantEndpoint } from './merchant-endpoint.ts';
import { Payers, type PaymentTimings } from './payer.ts';
import { reconcile, type ReconciledCounts } from './reconcile.ts';

/** Durations of the phases of a measurement, and the latency of the simulated acquirer. */
export interface LoadPlan {
  readonly acquirerLatencyMs: number;
  readonly warmUpSeconds: number;
  readonly halfLoadSeconds: number;
  readonly stepSeconds: number;
}

export interface StepResult {
  readonly offeredPerSecond: number;
  /** Payments of this step that were charged within {@link MAX_DURATION_MS}, per second. */
  readonly acceptedPerSecond: number;
  /** Payments of this step whose webhook arrived within {@link MAX_DURATION_MS}, per second. */
  readonly completedPerSecond: number;
  readonly latency: StageLatencies;
  /** Milliseconds of CPU for each payment, by group of processes. `load` is this program. */
  readonly cpuMs: CpuMs;
  /** Why the system did not sustain this step. Undefined if it did. */
  readonly failure: string | undefined;
}

/** Latency of each stage of a payment, in milliseconds. */
export interface StageLatencies {
  readonly session: Percentiles;
  readonly page: Percentiles;
  readonly pay: Percentiles;
  /** From the time of the outcome in the payment's row until the merchant has received the webhook. */
  readonly outcomeToWebhook: Percentiles;
  /** From the time at which the payer was due to start until the merchant has received the webhook. */
  readonly total: Percentiles;
}

export interface Measurement {
  readonly system: string;
  readonly acquirerLatencyMs: number;
  readonly saturation: SaturatedResult;
  readonly halfLoad: StepResult;
  readonly steps: readonly StepResult[];
  /** Completed payments per second in the highest step that the system sustained. */
  readonly completedPerSecond: number;
  readonly perPayment: CostPerPayment;
  readonly counts: ReconciledCounts;
}

/** Result of the warm-up, in which each payer waits for the webhook and pays again immediately. */
export interface SaturatedResult {
  readonly completedPerSecond: number;
  /** Milliseconds of CPU for each payment, by group of processes. `load` is this program. */
  readonly cpuMs: CpuMs;
  readonly perPayment: CostPerPayment;
}

/** Cost of one payment, from counters of PostgreSQL and the kernel. */
export interface CostPerPayment {
  readonly commits: number;
  readonly walBytes: number;
  /** Bytes of all connections on the loopback interface: HTTP, PostgreSQL and RabbitMQ. */
  readonly loopbackBytes: number;
}

const WARM_UP_WORKERS = 48;
const MAX_IN_FLIGHT = 4_000;
/**
 * A payment is in time if its webhook arrives within this time after the payment was due. The acquirer's latency is
 * added to this limit.
 */
const MAX_DURATION_MS = 2_000;
/** A system sustains a step if it completes at least this share of the started payments in time. */
const MIN_COMPLETED_SHARE = 0.95;
/** Offered load of each step, as a share of the saturated rate. */
const LOAD_STEPS = [0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.3];

export async function measureSystem(system: System, plan: LoadPlan, log: (line: string) => void): Promise<Measurement> {
  const { acquirerLatencyMs } = plan;
  const running = await system.start(acquirerLatencyMs);
  const endpoint = await MerchantEndpoint.start(running.merchant.webhookSecret);
  const payers = new Payers(running.merchant, endpoint);
  try {
    const run = new MeasurementRun(running, endpoint, payers, acquirerLatencyMs);
    const saturation = await run.warmUp(plan.warmUpSeconds);
    const saturatedRate = saturation.completedPerSecond;
    log(`${system.name}: warm, about ${saturatedRate.toFixed(0)} a second, ${describeSaturation(saturation)}`);
    const before = await run.readCounters();
    const halfLoad = await run.runStep(saturatedRate / 2, plan.halfLoadSeconds);
    const perPayment = await run.costSince(before);
    log(`${system.name}: ${describeStep(halfLoad)}`);
    const steps = [halfLoad];
    for (const share of LOAD_STEPS) {
      const step = await run.runStep(saturatedRate * share, plan.stepSeconds);
      steps.push(step);
      log(`${system.name}: ${describeStep(step)}`);
      if (step.failure !== undefined) break;
    }
    const counts = await reconcile(running, endpoint, run.startedPayments);
    const sustainedRates = steps.filter(({ failure }) => failure === undefined).map((step) => step.completedPerSecond);
    const completedPerSecond = Math.max(0, ...sustainedRates);
    const { name } = system;
    return { system: name, acquirerLatencyMs, saturation, halfLoad, steps, completedPerSecond, perPayment, counts };
  } finally {
    await payers.close();
    await running.stop();
    await endpoint.stop();
  }
}

class MeasurementRun {
  /** Number of payments started so far. */
  startedPayments = 0;

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

  async warmUp(seconds: number): Promise<SaturatedResult> {
    const pay = async (): Promise<void> => {
      this.startedPayments++;
      await this.payers.pay(performance.now());
    };
    // A payer who waits for the acquirer causes no load, so there are 250 more payers for each second of its latency.
    const workers = WARM_UP_WORKERS + Math.ceil((this.acquirerLatencyMs / 1_000) * 250);
    await runClosedLoad(workers, seconds / 2, pay);
    const before = await this.readCounters();
    const cpuBefore = this.cpu();
    const startedAt = performance.now();
    const completed = await runClosedLoad(workers, seconds / 2, pay);
    const completedPerSecond = completed / ((performance.now() - startedAt) / 1_000);
    const cpuMs = divideCpu(subtractCpu(this.cpu(), cpuBefore), completed);
    return { completedPerSecond, cpuMs, perPayment: await this.costSince(before) };
  }

  async runStep(perSecond: number, seconds: number): Promise<StepResult> {
    const timings: PaymentTimings[] = [];
    const notifiedBefore = this.endpoint.notifiedPayments.size;
    const cpuBefore = this.cpu();
    const { started, refused, errors } = await runOpenLoad({
      perSecond,
      seconds,
      maxInFlight: MAX_IN_FLIGHT,
      work: async (dueAt) => {
        this.startedPayments++;
        timings.push(await this.payers.pay(dueAt));
      },
    });
    const maxDurationMs = MAX_DURATION_MS + this.acquirerLatencyMs;
    const inTimePerSecond = (getTime: (timing: PaymentTimings) => number): number =>
      timings.filter((timing) => getTime(timing) - timing.dueAt <= maxDurationMs).length / seconds;
    const completedPerSecond = inTimePerSecond(({ webhook }) => webhook);
    const acceptedPerSecond = inTimePerSecond(({ paid }) => paid);
    const usedCpu = subtractCpu(this.cpu(), cpuBefore);
    const latency = await this.measureLatencies(timings, notifiedBefore);
    const findFailure = (): string | undefined => {
      if (errors.length > 0) return `${errors.length} of ${started} failed: ${String(errors[0])}`;
      if (refused > 0) return `${refused} could not be started`;
      return completedPerSecond < MIN_COMPLETED_SHARE * (started / seconds) ? 'not completed in time' : undefined;
    };
    return {
      offeredPerSecond: perSecond,
      acceptedPerSecond,
      completedPerSecond,
      latency,
      cpuMs: divideCpu(usedCpu, timings.length),
      failure: findFailure(),
    };
  }

  async readCounters(): Promise<{ flows: number; commits: number; wal: number; loopback: number }> {
    const [row] = await this.running.sql<{ commits: string; wal: string }>(
      `SELECT xact_commit AS commits, pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') AS wal
         FROM pg_stat_database WHERE datname = current_database()`,
    );
    return {
      flows: this.startedPayments,
      commits: Number(row!.commits),
      wal: Number(row!.wal),
      loopback: readLoopbackBytes(),
    };
  }

  async costSince(before: Awaited<ReturnType<MeasurementRun['readCounters']>>): Promise<CostPerPayment> {
    const after = await this.readCounters();
    const flows = after.flows - before.flows;
    return {
      commits: (after.commits - before.commits) / flows,
      walBytes: (after.wal - before.wal) / flows,
      loopbackBytes: (after.loopback - before.loopback) / flows,
    };
  }

  private async measureLatencies(timings: readonly PaymentTimings[], notifiedBefore: number): Promise<StageLatencies> {
    const outcomes = await this.running.sql<{ payment_reference: string; at: string }>(
      `SELECT payment_reference, extract(epoch FROM modified_at) * 1000 AS at FROM payment_processor.payments`,
    );
    const outcomeTimes = new Map(outcomes.map((row) => [row.payment_reference, Number(row.at)]));
    const notifiedPayments = [...this.endpoint.notifiedPayments.values()].slice(notifiedBefore);
    return {
      session: computePercentiles(timings.map(({ dueAt, session }) => session - dueAt)),
      page: computePercentiles(timings.map(({ session, page }) => page - session)),
      pay: computePercentiles(timings.map(({ paid, encrypted }) => paid - encrypted)),
      outcomeToWebhook: computePercentiles(
        notifiedPayments.map(
          ({ paymentReference, firstReceivedAt }) => firstReceivedAt - outcomeTimes.get(paymentReference)!,
        ),
      ),
      total: computePercentiles(timings.map(({ dueAt, webhook }) => webhook - dueAt)),
    };
  }

  private cpu(): CpuMs {
    const { user, system } = process.cpuUsage();
    return { ...readCpuMs(this.running.groups), load: (user + system) / 1_000 };
  }
}

function divideCpu(cpu: CpuMs, payments: number): CpuMs {
  return Object.fromEntries(Object.entries(cpu).map(([group, used]) => [group, used / payments]));
}

/** CPU of the services, PostgreSQL and RabbitMQ, without the CPU of this program. */
export function systemCpuMs(cpuMs: CpuMs): number {
  return Object.entries(cpuMs).reduce((sum, [group, used]) => (group === 'load' ? sum : sum + used), 0);
}

function describeSaturation({ cpuMs, perPayment }: SaturatedResult): string {
  return `${systemCpuMs(cpuMs).toFixed(1)} ms of CPU and ${perPayment.commits.toFixed(1)} commits each`;
}

function describeStep({ offeredPerSecond, completedPerSecond, latency, failure }: StepResult): string {
  const { p50, p99 } = latency.outcomeToWebhook;
  const rates = `offered ${offeredPerSecond.toFixed(0)}, completed ${completedPerSecond.toFixed(0)} a second`;
  const latencies = `outcome to webhook ${p50.toFixed(0)}/${p99.toFixed(0)} ms (p50/p99), total ${latency.total.p50.toFixed(0)}/${latency.total.p99.toFixed(0)} ms`;
  return failure === undefined ? `${rates}, ${latencies}` : `${rates}, ${latencies}; not sustained: ${failure}`;
}
