/**
 * Part `stuck-acquirer` of the benchmark: payments at one acquirer, the simulated bank, alone and while another acquirer,
 * the emulator of Adyen, is stuck. Slices alternate between both conditions on one platform. In a slice of a stuck
 * acquirer all permits of this acquirer are taken, and further payers wait for a permit: this is checked when the slice
 * begins and when it ends. Afterwards the stuck acquirer responds, and the next slice begins when all its payments have
 * an outcome.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { orderOfRound } from '../hosted-payment/measure.ts';
import { MerchantEndpoint } from '../hosted-payment/merchant-endpoint.ts';
import { Payers, type PaymentTimings } from '../hosted-payment/payer.ts';
import type { PartOptions } from '../main.ts';
import { forSeconds, runClosedLoad, runOpenLoad } from '../measuring/open-loop.ts';
import { computePercentiles, median } from '../measuring/percentiles.ts';
import { findMerchant, newPlatform, type RunningPlatform } from '../platforms/platform.ts';
import { type Section, type Table, toThreeDigits } from '../report.ts';

/** Concurrent charges of each acquirer. */
const PERMITS = 50;
const WAITING_PAYERS = 100;
/** A stuck charge holds its permit for 8 s (SVC_ACQUIRER_TIMEOUT_MS), so a slice must be shorter. */
const MAX_SLICE_SECONDS = 5;
const STUCK_REQUEST_MS = 10_000;
const MAX_RECOVERY_MS = 120_000;
const SATURATING_PAYERS = 48;
const WARM_UP_PAYMENTS_PER_SECOND_OF_STEP = 400;
/** A merchant's new account is used after at most this time. */
const NEW_ACCOUNT_MS = 1_500;
/** The platform must keep this share of its rate, and a payment may take this factor of its time. */
const MIN_RATE_RATIO = 0.95;
const MAX_LATENCY_RATIO = 1.1;

const CONDITIONS = ['alone', 'stuck'] as const;
type Condition = (typeof CONDITIONS)[number];

/** One round of one condition. Times are milliseconds. */
interface Slice {
  readonly perSecond: number;
  readonly payP50: number;
  readonly payP99: number;
  readonly totalP50: number;
  readonly totalP99: number;
}

export async function measureStuckAcquirer({ rounds, seconds, log }: PartOptions): Promise<Section> {
  const system = newPlatform('rabbitmq', {
    folder: 'stuck-acquirer',
    acquirer: 'adyen-emulator',
    settings: { SVC_ACQUIRER_CONCURRENCY: String(PERMITS) },
  });
  log(`${system.name}: starts`);
  const bench = await TwoAcquirers.start(await system.start());
  const slices: Record<Condition, Slice[]> = { alone: [], stuck: [] };
  try {
    await bench.warmUp(seconds * WARM_UP_PAYMENTS_PER_SECOND_OF_STEP);
    const sliceSeconds = Math.min(seconds / 2, MAX_SLICE_SECONDS);
    for (let round = 0; round < rounds; round++)
      for (const condition of orderOfRound(CONDITIONS, round)) {
        const slice = await bench.runSlice(condition, sliceSeconds);
        slices[condition].push(slice);
        log(
          `round ${round + 1} of ${rounds}, ${condition}: ${slice.perSecond.toFixed(0)} a second, pay ${slice.payP50.toFixed(1)}/${slice.payP99.toFixed(1)} ms (p50/p99)`,
        );
      }
    return {
      title: 'One of two acquirers is stuck; RabbitMQ, all in one',
      tables: [newTable(slices)],
      figures: [
        { name: 'rate against alone', value: ratio(slices, 'perSecond'), unit: '', promised: MIN_RATE_RATIO },
        {
          name: 'time to pay at half load, p50, against alone',
          value: ratio(slices, 'payP50'),
          unit: '',
          promised: MAX_LATENCY_RATIO,
          direction: 'most',
        },
      ],
      problems: await bench.findProblems(),
      data: slices,
    };
  } finally {
    await bench.stop();
  }
}

/** Median of the ratios of the rounds. */
function ratio(slices: Readonly<Record<Condition, Slice[]>>, field: keyof Slice): number {
  return median(slices.stuck.map((slice, round) => slice[field] / slices.alone[round]![field]));
}

function newTable(slices: Readonly<Record<Condition, Slice[]>>): Table {
  const fields = ['perSecond', 'payP50', 'payP99', 'totalP50', 'totalP99'] as const;
  const row = (name: string, getValue: (field: keyof Slice) => number): string[] => [
    name,
    ...fields.map((field) => toThreeDigits(getValue(field))),
  ];
  return {
    title: `Payments at the other acquirer, medians; ${PERMITS} stuck charges and ${WAITING_PAYERS} waiting payers`,
    columns: ['', 'a second', 'pay p50, ms', 'pay p99, ms', 'total p50, ms', 'total p99, ms'],
    rows: [
      row('alone', (field) => median(slices.alone.map((slice) => slice[field]))),
      row('while one is stuck', (field) => median(slices.stuck.map((slice) => slice[field]))),
      row('ratio, median of the rounds', (field) => ratio(slices, field)),
    ],
  };
}

class TwoAcquirers {
  private readonly running: RunningPlatform;
  private readonly endpoint: MerchantEndpoint;
  private readonly payers: Payers;
  private readonly payersOfStuck: Payers;
  private startedPayments = 0;
  private perSecond = 0;

  private constructor(running: RunningPlatform, endpoint: MerchantEndpoint) {
    this.running = running;
    this.endpoint = endpoint;
    this.payers = new Payers(running.merchant, endpoint);
    this.payersOfStuck = new Payers(findMerchant(running.demo, 1), endpoint);
  }

  static async start(running: RunningPlatform): Promise<TwoAcquirers> {
    const { demo, merchant } = running;
    const { merchantId } = demo.merchants[0]!;
    const response = await fetch(`${demo.adminUrl}/admin/v1/merchant-accounts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-admin-key': demo.adminKey },
      body: JSON.stringify({
        ...{ merchantId, mode: 'test' },
        ...{ acquirer: 'simulated', accountReference: `merchant-${merchantId}` },
      }),
    });
    if (!response.ok) throw new Error(`The merchant's account was not set: ${response.status}`);
    await pause(NEW_ACCOUNT_MS);
    return new TwoAcquirers(running, await MerchantEndpoint.start(merchant.webhookSecret));
  }

  async warmUp(payments: number): Promise<void> {
    const end = this.startedPayments + payments;
    const startedAt = performance.now();
    await runClosedLoad(
      SATURATING_PAYERS,
      () => this.startedPayments < end,
      () => this.pay(),
    );
    this.perSecond = payments / ((performance.now() - startedAt) / 1_000);
    // The code of the other acquirer must be compiled too.
    const other = await Promise.all(Array.from({ length: PERMITS }, () => this.payersOfStuck.openPage()));
    await Promise.all(other.map((send) => send()));
    await this.awaitRecovery();
  }

  /** Measures the rate with payers who pay again at once, and then the latency at half of the rate of the warm-up. */
  async runSlice(condition: Condition, seconds: number): Promise<Slice> {
    const run = <T>(work: () => Promise<T>): Promise<T> => (condition === 'stuck' ? this.whileStuck(work) : work());
    const perSecond = await run(async () => {
      const startedAt = performance.now();
      const completed = await runClosedLoad(SATURATING_PAYERS, forSeconds(seconds), () => this.pay());
      return completed / ((performance.now() - startedAt) / 1_000);
    });
    const timings: PaymentTimings[] = [];
    await run(async () => {
      const { errors } = await runOpenLoad({
        perSecond: this.perSecond / 2,
        seconds,
        maxInFlight: 4_000,
        work: async (dueAt) => void timings.push(await this.pay(dueAt)),
      });
      if (errors.length > 0) throw new Error(`${errors.length} payments failed`, { cause: errors[0] });
    });
    const pay = computePercentiles(timings.map(({ paid, encrypted }) => paid - encrypted));
    const total = computePercentiles(timings.map(({ dueAt, webhook }) => webhook - dueAt));
    return { perSecond, payP50: pay.p50, payP99: pay.p99, totalP50: total.p50, totalP99: total.p99 };
  }

  /** Empty if each payment has its outcome, and each payment of the other acquirer was charged. */
  async findProblems(): Promise<string[]> {
    const [row] = await this.running.sql<{ open: number; charged: number }>(
      `SELECT count(*) FILTER (WHERE ended_at IS NULL)::int AS open,
              count(*) FILTER (WHERE acquirer = 'simulated' AND state = 'approved')::int AS charged
         FROM payment_processor.attempts`,
    );
    const { open, charged } = row!;
    const charges = this.running.readCharges().length;
    return [
      ...(open > 0 ? [`${open} attempts have no outcome`] : []),
      ...(charged === this.startedPayments && charges === charged
        ? []
        : [`${charges} charges and ${charged} approved attempts for ${this.startedPayments} payments`]),
    ];
  }

  async stop(): Promise<void> {
    await this.payers.close();
    await this.payersOfStuck.close();
    await this.running.stop();
    await this.endpoint.stop();
  }

  private pay(dueAt = performance.now()): Promise<PaymentTimings> {
    this.startedPayments++;
    return this.payers.pay(dueAt);
  }

  private async whileStuck<T>(work: () => Promise<T>): Promise<T> {
    const sends: (() => Promise<string>)[] = [];
    while (sends.length < PERMITS + WAITING_PAYERS) sends.push(await this.payersOfStuck.openPage());
    await this.control('POST', {
      type: 'delay-request',
      delayMs: STUCK_REQUEST_MS,
      operation: 'payments',
      times: 10_000,
    });
    let waiting = sends.length;
    const responses = sends.map((send) => send().finally(() => waiting--));
    // A payer whose payment has no outcome gets an error.
    const ended = Promise.allSettled(responses);
    while ((await this.countStuckCharges()) < PERMITS) await pause(10);
    const result = await work();
    if ((await this.countStuckCharges()) !== PERMITS || waiting < PERMITS + WAITING_PAYERS)
      throw new Error(`The acquirer was not stuck until the end of the slice: ${waiting} payers waited.`);
    await this.control('DELETE');
    await ended;
    await this.awaitRecovery();
    return result;
  }

  /** The simulated bank's open charges do not count. */
  private async countStuckCharges(): Promise<number> {
    const [row] = await this.running.sql<{ stuck: number }>(
      `SELECT count(*)::int AS stuck FROM payment_processor.attempts WHERE acquirer = 'adyen' AND ended_at IS NULL`,
    );
    return row!.stuck;
  }

  /** Waits until each payment at the stuck acquirer has an outcome, is captured, and a new payment succeeds. */
  private async awaitRecovery(): Promise<void> {
    const endsAt = performance.now() + MAX_RECOVERY_MS;
    const isRecovered = async (): Promise<boolean> => {
      const [row] = await this.running.sql<{ unfinished: number }>(
        `SELECT (SELECT count(*) FROM payment_processor.attempts WHERE acquirer = 'adyen' AND ended_at IS NULL)::int
              + (SELECT count(*) FROM payment_processor.captures WHERE ended_at IS NULL)::int AS unfinished`,
      );
      if (row!.unfinished > 0) return false;
      const send = await this.payersOfStuck.openPage();
      return (await send().catch(() => '')).includes('"state":"succeeded"');
    };
    while (!(await isRecovered())) {
      if (performance.now() > endsAt) throw new Error('The stuck acquirer did not recover.');
      await pause(500);
    }
  }

  /** Adds a fault of the emulator of Adyen, or removes all faults. */
  private async control(method: 'DELETE' | 'POST', fault?: object): Promise<void> {
    const response = await fetch(`${this.running.adyenEmulatorUrl}/emulator/faults`, {
      method,
      ...(fault ? { headers: { 'content-type': 'application/json' }, body: JSON.stringify(fault) } : {}),
    });
    if (!response.ok) throw new Error(`The emulator responded ${response.status}`);
  }
}
