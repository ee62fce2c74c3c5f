/**
 * Measures the hosted payment on systems that run side by side. The load alternates between them in slices of a few
 * seconds, so that other load on the machine, which comes and goes, affects all systems alike. A system without load
 * needs almost no CPU. First each system is warmed up, because the platform needs some thousand payments until its code
 * is compiled. Then each round has two slices for each system:
 * - saturated: each payer pays again as soon as its webhook has arrived. The rate of a system is the rate of this slice.
 * - half load: payments start at random times, at half of the saturated rate, for the latency of each stage. Two systems
 *   can have the same load, so that their latencies can be compared.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type CpuMs, readCpuMs, readLoopbackBytes, subtractCpu } from '../measuring/cpu.ts';
import { forSeconds, runClosedLoad, runOpenLoad } from '../measuring/open-loop.ts';
import { computePercentiles, median, type Percentiles } from '../measuring/percentiles.ts';
import type { RunningSystem, System } from '../platforms/system.ts';
import { MerchantEndpoint } from './merchant-endpoint.ts';
import { Payers, type PaymentTimings } from './payer.ts';
import { reconcile, type ReconciledCounts } from './reconcile.ts';

export interface LoadPlan {
  readonly rounds: number;
  readonly sliceSeconds: number;
  /** Number of payments of each system before the first round. */
  readonly warmUpPayments: number;
}

export interface Measurement {
  readonly system: string;
  readonly acquirerLatencyMs: number;
  readonly rounds: readonly Round[];
  readonly counts: ReconciledCounts;
}

export interface Round {
  readonly saturated: SaturatedSlice;
  readonly halfLoad: HalfLoadSlice;
}

export interface SaturatedSlice {
  readonly completedPerSecond: number;
  readonly cost: CostPerPayment;
}

export interface HalfLoadSlice {
  readonly offeredPerSecond: number;
  readonly latency: StageLatencies;
  readonly cost: CostPerPayment;
  /** Why not all payments of this slice were completed. Undefined if they were. */
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

/** Cost of one payment, from counters of PostgreSQL and the kernel. */
export interface CostPerPayment {
  /** Milliseconds of CPU by group of processes. `load` is this program. */
  readonly cpuMs: CpuMs;
  readonly commits: number;
  readonly walBytes: number;
  /** Bytes of all connections on the loopback interface: HTTP, PostgreSQL and RabbitMQ. */
  readonly loopbackBytes: number;
}

const SATURATING_PAYERS = 48;
const MAX_IN_FLIGHT = 4_000;
/** Pause after each slice, in which the system stores the last results and becomes idle. */
const PAUSE_MS = 500;

export async function measureSideBySide(
  systems: readonly System[],
  { rounds, sliceSeconds, warmUpPayments }: LoadPlan,
  log: (line: string) => void,
): Promise<Measurement[]> {
  const measured: MeasuredSystem[] = [];
  try {
    for (const system of systems) {
      log(`${system.name}: starts`);
      measured.push(await MeasuredSystem.start(system));
    }
    for (const system of measured) {
      const perSecond = await system.warmUp(warmUpPayments);
      log(`${system.name}: warm after ${warmUpPayments} payments, ${perSecond.toFixed(0)} a second`);
    }
    for (let round = 0; round < rounds; round++) {
      const order = orderOfRound(measured, round);
      for (const system of order) log(`round ${round + 1} of ${rounds}, ${await system.runSaturated(sliceSeconds)}`);
      for (const system of order) {
        const reference = measured.find(({ name }) => name === system.halfLoadOf) ?? system;
        log(`round ${round + 1} of ${rounds}, ${await system.runHalfLoad(sliceSeconds, reference.medianRate() / 2)}`);
      }
    }
    const measurements: Measurement[] = [];
    for (const system of measured) measurements.push(await system.finish());
    return measurements;
  } finally {
    for (const system of measured) await system.stop();
  }
}

/** Each round begins with another system, and every second round is reversed, so that no system always follows the same one. */
export function orderOfRound<T>(items: readonly T[], round: number): T[] {
  const start = round % items.length;
  const rotated = [...items.slice(start), ...items.slice(0, start)];
  return round % 2 === 0 ? rotated : rotated.reverse();
}

/** Median of the ratio of two measurements in each round. Both were measured within the same minute. */
export function medianRatio(
  numerator: Measurement,
  denominator: Measurement,
  getValue: (round: Round) => number,
): number {
  return median(numerator.rounds.map((round, index) => getValue(round) / getValue(denominator.rounds[index]!)));
}

/** CPU of the services, PostgreSQL and RabbitMQ, without the CPU of this program. */
export function systemCpuMs({ cpuMs }: CostPerPayment): number {
  return Object.entries(cpuMs).reduce((sum, [group, used]) => (group === 'load' ? sum : sum + used), 0);
}

class MeasuredSystem {
  readonly name: string;
  readonly halfLoadOf: string | undefined;
  private readonly acquirerLatencyMs: number;
  private readonly running: RunningSystem;
  private readonly endpoint: MerchantEndpoint;
  private readonly payers: Payers;
  private startedPayments = 0;
  private readonly saturated: SaturatedSlice[] = [];
  private readonly halfLoad: HalfLoadSlice[] = [];

  private constructor(
    { name, acquirerLatencyMs, halfLoadOf }: System,
    running: RunningSystem,
    endpoint: MerchantEndpoint,
  ) {
    this.name = name;
    this.halfLoadOf = halfLoadOf;
    this.acquirerLatencyMs = acquirerLatencyMs;
    this.running = running;
    this.endpoint = endpoint;
    this.payers = new Payers(running.merchant, endpoint);
  }

  static async start(system: System): Promise<MeasuredSystem> {
    const running = await system.start();
    return new MeasuredSystem(system, running, await MerchantEndpoint.start(running.merchant.webhookSecret));
  }

  /** Returns the rate of the warm-up, in payments per second. */
  async warmUp(payments: number): Promise<number> {
    const startedAt = performance.now();
    await runClosedLoad(
      this.countPayers(),
      () => this.startedPayments < payments,
      () => this.pay(),
    );
    return payments / ((performance.now() - startedAt) / 1_000);
  }

  /** Returns a line for the log. */
  async runSaturated(seconds: number): Promise<string> {
    const before = await this.readCounters();
    const startedAt = performance.now();
    const completed = await runClosedLoad(
      this.countPayers(),
      forSeconds(seconds + (2 * this.acquirerLatencyMs) / 1_000),
      () => this.pay(),
    );
    const completedPerSecond = completed / ((performance.now() - startedAt) / 1_000);
    const cost = await this.costSince(before);
    this.saturated.push({ completedPerSecond, cost });
    await pause(PAUSE_MS);
    return `${this.name}: ${completedPerSecond.toFixed(0)} a second, ${systemCpuMs(cost).toFixed(1)} ms of CPU and ${cost.commits.toFixed(1)} commits each`;
  }

  medianRate(): number {
    return median(this.saturated.map(({ completedPerSecond }) => completedPerSecond));
  }

  /** Returns a line for the log. */
  async runHalfLoad(seconds: number, offeredPerSecond: number): Promise<string> {
    const timings: PaymentTimings[] = [];
    const notifiedBefore = this.endpoint.notifiedPayments.size;
    const before = await this.readCounters();
    const { started, refused, errors } = await runOpenLoad({
      perSecond: offeredPerSecond,
      seconds,
      maxInFlight: MAX_IN_FLIGHT,
      work: async (dueAt) => void timings.push(await this.pay(dueAt)),
    });
    const cost = await this.costSince(before);
    const latency = await this.measureLatencies(timings, notifiedBefore);
    const failure =
      refused + errors.length === 0
        ? undefined
        : `${errors.length} of ${started} failed, ${refused} could not be started: ${String(errors[0])}`;
    this.halfLoad.push({ offeredPerSecond, latency, cost, failure });
    await pause(PAUSE_MS);
    const { p50, p99 } = latency.outcomeToWebhook;
    return `${this.name}: at ${offeredPerSecond.toFixed(0)} a second outcome to webhook ${p50.toFixed(0)}/${p99.toFixed(0)} ms (p50/p99), total ${latency.total.p50.toFixed(0)}/${latency.total.p99.toFixed(0)} ms`;
  }

  async finish(): Promise<Measurement> {
    const { name, acquirerLatencyMs, saturated, halfLoad } = this;
    return {
      system: name,
      acquirerLatencyMs,
      rounds: saturated.map((slice, round) => ({ saturated: slice, halfLoad: halfLoad[round]! })),
      counts: await reconcile(this.running, this.endpoint, this.startedPayments),
    };
  }

  async stop(): Promise<void> {
    await this.payers.close();
    await this.running.stop();
    await this.endpoint.stop();
  }

  private pay(dueAt = performance.now()): Promise<PaymentTimings> {
    this.startedPayments++;
    return this.payers.pay(dueAt);
  }

  /** A payer who waits for the acquirer causes no load, so there are 250 more payers for each second of its latency. */
  private countPayers(): number {
    return SATURATING_PAYERS + Math.ceil((this.acquirerLatencyMs / 1_000) * 250);
  }

  private async readCounters(): Promise<{
    payments: number;
    commits: number;
    wal: number;
    loopback: number;
    cpu: CpuMs;
  }> {
    const [row] = await this.running.sql<{ commits: string; wal: string }>(
      `SELECT xact_commit AS commits, pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') AS wal
         FROM pg_stat_database WHERE datname = current_database()`,
    );
    const { user, system } = process.cpuUsage();
    return {
      payments: this.startedPayments,
      commits: Number(row!.commits),
      wal: Number(row!.wal),
      loopback: readLoopbackBytes(),
      cpu: { ...readCpuMs(this.running.groups), load: (user + system) / 1_000 },
    };
  }

  private async costSince(before: Awaited<ReturnType<MeasuredSystem['readCounters']>>): Promise<CostPerPayment> {
    const after = await this.readCounters();
    const payments = after.payments - before.payments;
    const cpu = subtractCpu(after.cpu, before.cpu);
    return {
      cpuMs: Object.fromEntries(Object.entries(cpu).map(([group, used]) => [group, used / payments])),
      commits: (after.commits - before.commits) / payments,
      walBytes: (after.wal - before.wal) / payments,
      loopbackBytes: (after.loopback - before.loopback) / payments,
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
}
