/**
 * What can go wrong under a distributed platform, one after the other, each while at least 20 payments are between
 * charge and webhook: every process and every server dies, the broker is away, the broker takes nothing. Afterwards
 * everything charged is recorded, moved in the ledger and acknowledged by the merchant: nothing twice, nothing missing.
 */
import { waitUntil } from '@svc/testing';
import type { Supervised } from '../tools/svc/processes.ts';
import { Books, type Totals } from './books.js';
import { clientOf, createSessions } from './merchant.js';
import { type Answer, MerchantEndpoint } from './merchant-endpoint.js';
import { fillIn, press, pressAgain, type Pressed, type PressOfPay } from './payer.js';
import { Platform } from './platform.js';
import type { Interruption } from './repeated-posts.js';
import { blockedConnections, rabbitmqctl } from './rabbitmqctl.js';

jest.setTimeout(300_000);

/**
 * The bank charges at once and answers this late. Longer would gain nothing: after 2 s the recovery job asks by itself, and
 * then a payment is no longer at the bank.
 */
const LATENCY_MS = 3_000;
const ON_THE_WIRE = 8;
const AT_THE_BANK = 16;
const AT_LEAST_UNDER_WAY = 20;
/** Tried while the broker is away or takes nothing. */
const MEANWHILE = 4;
const BROKER_GONE_MS = 30_000;
/** As tools/svc/rabbitmq.ts sets it. */
const MEMORY = '512MB';

interface Line {
  readonly fault: string;
  readonly underWay: string;
  readonly seconds: number;
  readonly totals: Totals;
}

interface UnderWay {
  readonly presses: readonly PressOfPay[];
  /** The presses that the fault meets, with or without an answer. */
  readonly answered: Promise<unknown>;
}

describe('a fault', () => {
  let platform: Platform;
  let endpoint: MerchantEndpoint;
  let books: Books;
  let answer: Answer = 200;
  const lines: Line[] = [];
  let before: Totals;
  let startedAt: number;
  let dispatcherPid: number;
  /** Of the dispatcher, so far. */
  const interruptions: Interruption[] = [];

  beforeAll(async () => {
    platform = await Platform.start('faults', { SVC_ACQUIRER_LATENCY_MS: String(LATENCY_MS) }, 'distributed');
    endpoint = await MerchantEndpoint.start(platform.site(0, 0).webhookSecret, () => answer);
    books = new Books(platform, endpoint);
  });
  afterAll(async () => {
    if (lines.length > 0) process.stdout.write(`${tableOf(lines)}\n`);
    endpoint?.release();
    await platform?.stop();
    await endpoint?.stop();
  });
  beforeEach(async () => {
    before = await books.totals();
    startedAt = Date.now();
    dispatcherPid = platform.process('webhook-dispatcher').pid;
  });

  const fillInNew = async (count: number): Promise<PressOfPay[]> => {
    const sessions = await createSessions(clientOf(platform), count, endpoint.url);
    return Promise.all(sessions.map(({ redirectUrl }) => fillIn(redirectUrl)));
  };
  const pressAll = (presses: readonly PressOfPay[]): Promise<PromiseSettledResult<Pressed>[]> =>
    Promise.allSettled(presses.map((one) => press(platform.demo.gatewayUrl, one)));

  /** Some notifications are on the wire without an answer, and the bank's answer to the others is still to come. */
  async function underWay(): Promise<UnderWay> {
    const presses = await fillInNew(ON_THE_WIRE + AT_THE_BANK);
    answer = 'hold';
    await pressAll(presses.slice(0, ON_THE_WIRE));
    await waitUntil('the notifications on the wire', 20_000, () => Promise.resolve(endpoint.holding === ON_THE_WIRE));
    const answered = pressAll(presses.slice(ON_THE_WIRE));
    const charges = before.charges + presses.length;
    await waitUntil('the charges', 20_000, () => Promise.resolve(books.approved().length === charges));
    return { presses, answered };
  }

  /**
   * What everybody does afterwards: the merchant answers, half of the payers press again as the page's script does,
   * of the others nobody ever hears again. Then the books are compared.
   */
  async function expectNothingLost(
    fault: string,
    { presses, answered }: UnderWay,
    met: string,
    interruption?: Interruption,
  ): Promise<void> {
    answer = 200;
    endpoint.release();
    await answered;
    await Promise.all(
      presses
        .filter((_, index) => index % 2 === 0)
        .map((one) =>
          waitUntil('an answer to the repeated press', 60_000, () => pressAgain(platform.demo.gatewayUrl, one)),
        ),
    );
    await books.everyoneHasHeard(interruption?.from);
    const count = before.charges + presses.length;
    await waitUntil('the books to be complete', 30_000, async () => (await books.totals()).transfers === count);
    await books.expectToAgree(count);
    const totals = await books.totals();
    const difference = Object.fromEntries(
      Object.entries(totals).map(([name, value]) => [name, (value as number) - before[name as keyof Totals]]),
    ) as unknown as Totals;
    lines.push({ fault, underWay: met, seconds: (Date.now() - startedAt) / 1000, totals: difference });
    const { charges, payments, transfers, notifications } = difference;
    expect({ charges, payments, transfers, notifications }).toEqual({
      charges: presses.length,
      payments: presses.length,
      transfers: presses.length,
      notifications: presses.length,
    });
    if (interruption) interruptions.push(interruption);
    else expect(platform.process('webhook-dispatcher').pid).toBe(dispatcherPid);
    await books.expectPostsToBeJustified(interruptions);
  }

  /** Counted in the very moment before the fault. */
  async function whatIsAtRisk(): Promise<string> {
    const processing = await books.processing();
    const atRisk = books.underWay().length;
    expect(atRisk).toBeGreaterThanOrEqual(AT_LEAST_UNDER_WAY);
    expect(processing).toBeGreaterThan(0);
    return `${atRisk}: ${processing} at the bank, ${endpoint.holding} on the wire`;
  }

  it.each<Supervised>([
    'front',
    'identity',
    'hosted-gateway',
    'payment-processor',
    'webhook-dispatcher',
    'simulated-acquirer',
  ])('of %s, killed, loses nothing and doubles nothing', async (app) => {
    const work = await underWay();
    const { pid, restarts } = platform.process(app);
    const met = await whatIsAtRisk();
    await platform.kill(pid);
    const diedAt = new Date();
    await waitUntil(`${app} to be started again`, 30_000, () =>
      Promise.resolve((platform.processes()[app]?.restarts ?? 0) > restarts),
    );
    const sends = app === 'webhook-dispatcher';
    if (sends) await waitUntil('its connections to end', 10_000, () => Promise.resolve(endpoint.holding === 0));
    await expectNothingLost(`kill -9 ${app}`, work, met, sends ? { from: diedAt, to: diedAt, drainMs: 0 } : undefined);
    await waitUntil('everybody to be ready', 60_000, () => platform.isReady());
  });

  it('of RabbitMQ, killed and started again, loses nothing and doubles nothing', async () => {
    const work = await underWay();
    const met = await whatIsAtRisk();
    await platform.kill(platform.rabbitMqPid);
    await platform.up();
    await expectNothingLost('kill -9 RabbitMQ', work, met);
    await waitUntil('everybody to be ready', 60_000, () => platform.isReady());
  });

  it('of RabbitMQ, gone for 30 s, refuses honestly what it cannot take, and loses nothing', async () => {
    const work = await underWay();
    const met = await whatIsAtRisk();
    await platform.kill(platform.rabbitMqPid);
    const goneAt = Date.now();
    // Without a broker, too, the dispatcher gives up a POST that has no answer, and sends it again.
    await waitUntil('the POSTs on the wire to be given up', 20_000, () => Promise.resolve(endpoint.holding === 0));
    answer = 200;
    // A page is still made and shown; what would need the bank is refused, and not charged.
    const later = await fillInNew(MEANWHILE);
    const refused = await pressAll(later);
    expect(refused.map((result) => statusOf(result))).toEqual(later.map(() => 503));
    await waitUntil('30 s without a broker', 2 * BROKER_GONE_MS, () =>
      Promise.resolve(Date.now() - goneAt >= BROKER_GONE_MS),
    );
    expect(books.approved()).toHaveLength(before.charges + work.presses.length);

    await platform.up();
    const { gatewayUrl } = platform.demo;
    await Promise.all(
      later.map((one) => waitUntil('an answer to the repeated press', 60_000, () => pressAgain(gatewayUrl, one))),
    );
    const presses = [...work.presses, ...later];
    await expectNothingLost('RabbitMQ gone for 30 s', { ...work, presses }, met);
    await waitUntil('everybody to be ready', 60_000, () => platform.isReady());
  });

  it('of RabbitMQ, which is full and blocks who publishes, loses nothing', async () => {
    const work = await underWay();
    const met = await whatIsAtRisk();
    await rabbitmqctl(platform, 'set_vm_memory_high_watermark', 'absolute', '1');
    let later: PressOfPay[];
    try {
      answer = 200;
      endpoint.release();
      later = await fillInNew(MEANWHILE);
      const meanwhile = await pressAll(later);
      // Taken, or refused with the promise that nothing was charged, or under way and to be asked for: all have an answer.
      for (const result of meanwhile) expect([200, 202, 503]).toContain(statusOf(result));
      expect(await blockedConnections(platform)).toBeGreaterThan(0);
    } finally {
      await rabbitmqctl(platform, 'set_vm_memory_high_watermark', 'absolute', MEMORY);
    }
    const { gatewayUrl } = platform.demo;
    await Promise.all(
      later.map((one) => waitUntil('an answer to the repeated press', 60_000, () => pressAgain(gatewayUrl, one))),
    );
    const presses = [...work.presses, ...later];
    await expectNothingLost('RabbitMQ full', { ...work, presses }, met);
  });

  it('of PostgreSQL, killed and started again, loses nothing and doubles nothing', async () => {
    const work = await underWay();
    const met = await whatIsAtRisk();
    await platform.kill(platform.postgresPid);
    const diedAt = new Date();
    answer = 200;
    endpoint.release();
    await platform.up();
    // The dispatcher could not record what was acknowledged meanwhile, and sends it again under the same id.
    await expectNothingLost('kill -9 PostgreSQL', work, met, { from: diedAt, to: new Date(), drainMs: 0 });
  });
});

function statusOf(result: PromiseSettledResult<Pressed>): number | string {
  return result.status === 'fulfilled' ? result.value.httpStatus : String(result.reason);
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
