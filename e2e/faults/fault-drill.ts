/**
 * A fault that meets a distributed platform while at least 20 payments are between charge and webhook. Afterwards
 * everything charged is recorded, moved in the ledger and acknowledged by the merchant: nothing twice, nothing missing.
 */
import { waitUntil } from '@svc/testing';
import { Books, type Totals } from '../books/books.js';
import { clientOf, createSessions } from '../callers/merchant.js';
import { type Answer, MerchantEndpoint } from '../callers/merchant-endpoint.js';
import { fillIn, press, pressAgain, type Pressed, type PressOfPay } from '../callers/payer.js';
import { Platform } from '../platform/platform.js';
import type { Interruption } from '../books/repeated-posts.js';

/**
 * The bank charges at once and answers this late. Longer would gain nothing: after 2 s the recovery job asks by itself, and
 * then a payment is no longer at the bank.
 */
const LATENCY_MS = 3_000;
const ON_THE_WIRE = 8;
const AT_THE_BANK = 16;
const AT_LEAST_UNDER_WAY = 20;
interface Line {
  readonly fault: string;
  readonly underWay: string;
  readonly seconds: number;
  readonly totals: Totals;
}

export interface UnderWay {
  readonly presses: readonly PressOfPay[];
  /** The presses that the fault meets, with or without an answer. */
  readonly answered: Promise<unknown>;
}

export class FaultDrill {
  private answer: Answer = 200;
  private before!: Totals;
  private startedAt = 0;
  private dispatcherPid = 0;
  private readonly lines: Line[] = [];
  /** Of the dispatcher, so far. */
  private readonly interruptions: Interruption[] = [];

  private constructor(
    readonly platform: Platform,
    readonly endpoint: MerchantEndpoint,
    readonly books: Books,
  ) {}

  /** @param name of the platform's data folder */
  static async start(name: string): Promise<FaultDrill> {
    const platform = await Platform.start(name, { SVC_ACQUIRER_LATENCY_MS: String(LATENCY_MS) }, 'distributed');
    const endpoint = await MerchantEndpoint.start(platform.site(0, 0).webhookSecret, () => drill.answer);
    const drill = new FaultDrill(platform, endpoint, new Books(platform, endpoint));
    return drill;
  }

  async stop(): Promise<void> {
    if (this.lines.length > 0) process.stdout.write(`${tableOf(this.lines)}\n`);
    this.endpoint.release();
    await this.platform.stop();
    await this.endpoint.stop();
  }

  /** Before each fault. */
  async begin(): Promise<void> {
    await waitUntil('everybody to be ready', 60_000, () => this.platform.isReady());
    this.before = await this.books.totals();
    this.startedAt = Date.now();
    this.dispatcherPid = this.platform.process('webhook-dispatcher').pid;
  }

  /** Charged before this fault. */
  get chargedBefore(): number {
    return this.before.charges;
  }

  /** From now on the merchant acknowledges, what it has held too. */
  acknowledge(): void {
    this.answer = 200;
    this.endpoint.release();
  }

  async fillInNew(count: number): Promise<PressOfPay[]> {
    const sessions = await createSessions(clientOf(this.platform), count, this.endpoint.url);
    return Promise.all(sessions.map(({ redirectUrl }) => fillIn(redirectUrl)));
  }

  pressAll(presses: readonly PressOfPay[]): Promise<PromiseSettledResult<Pressed>[]> {
    return Promise.allSettled(presses.map((one) => press(this.platform.demo.gatewayUrl, one)));
  }

  /** Until each of them has an answer. */
  async pressAllAgain(presses: readonly PressOfPay[]): Promise<void> {
    const { gatewayUrl } = this.platform.demo;
    let open = presses;
    await waitUntil('an answer to every repeated press', 120_000, async () => {
      await this.books.makeQuestionsDue();
      const answers = await Promise.all(open.map((one) => pressAgain(gatewayUrl, one)));
      open = open.filter((_, index) => answers[index] === undefined);
      return open.length === 0;
    });
  }

  /** Some notifications are on the wire without an answer, and the bank's answer to the others is still to come. */
  async underWay(): Promise<UnderWay> {
    const presses = await this.fillInNew(ON_THE_WIRE + AT_THE_BANK);
    this.answer = 'hold';
    await this.pressAll(presses.slice(0, ON_THE_WIRE));
    await waitUntil('the notifications on the wire', 20_000, () =>
      Promise.resolve(this.endpoint.holding === ON_THE_WIRE),
    );
    const answered = this.pressAll(presses.slice(ON_THE_WIRE));
    const charges = this.before.charges + presses.length;
    await waitUntil('the charges', 20_000, () => Promise.resolve(this.books.approved().length === charges));
    return { presses, answered };
  }

  /**
   * What everybody does afterwards: the merchant answers, half of the payers press again as the page's script does,
   * of the others nobody ever hears again. Then the books are compared.
   */
  async expectNothingLost(
    fault: string,
    { presses, answered }: UnderWay,
    met: string,
    interruption?: Interruption,
  ): Promise<void> {
    this.acknowledge();
    await answered;
    await this.pressAllAgain(presses.filter((_, index) => index % 2 === 0));
    await this.books.everyoneHasHeard(interruption?.from);
    const count = this.before.charges + presses.length;
    await waitUntil('the books to be complete', 30_000, async () => (await this.books.totals()).transfers === count);
    await this.books.expectToAgree(count);
    const totals = await this.books.totals();
    const difference = Object.fromEntries(
      Object.entries(totals).map(([name, value]) => [name, (value as number) - this.before[name as keyof Totals]]),
    ) as unknown as Totals;
    this.lines.push({ fault, underWay: met, seconds: (Date.now() - this.startedAt) / 1000, totals: difference });
    const { charges, payments, transfers, notifications } = difference;
    expect({ charges, payments, transfers, notifications }).toEqual({
      charges: presses.length,
      payments: presses.length,
      transfers: presses.length,
      notifications: presses.length,
    });
    if (interruption) this.interruptions.push(interruption);
    else expect(this.platform.process('webhook-dispatcher').pid).toBe(this.dispatcherPid);
    await this.books.expectPostsToBeJustified(this.interruptions);
  }

  /** Counted in the very moment before the fault. */
  async whatIsAtRisk(): Promise<string> {
    const processing = await this.books.processing();
    const atRisk = this.books.underWay().length;
    expect(atRisk).toBeGreaterThanOrEqual(AT_LEAST_UNDER_WAY);
    expect(processing).toBeGreaterThan(0);
    return `${atRisk}: ${processing} at the bank, ${this.endpoint.holding} on the wire`;
  }
}

function tableOf(lines: readonly Line[]): string {
  const rows = [
    ['fault', 'under way', 'charges', 'payments', 'transfers', 'notification ids', 'POSTs', 'seconds'],
    ...lines.map(({ fault, underWay, seconds, totals }) => [
      fault,
      underWay,
      ...[totals.charges, totals.payments, totals.transfers, totals.notifications, totals.posts].map(String),
      seconds.toFixed(1),
    ]),
  ];
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column]!)).join('  ')).join('\n');
}
