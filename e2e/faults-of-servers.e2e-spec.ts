/**
 * The servers under a distributed platform die, RabbitMQ is away for 30 s, RabbitMQ takes nothing: one after the other,
 * each while payments are under way.
 */
import { waitUntil } from '@svc/testing';
import { FaultDrill } from './faults/fault-drill.js';
import type { Pressed, PressOfPay } from './callers/payer.js';
import { blockedConnections, rabbitmqctl } from './platform/rabbitmqctl.js';

/** Tried while the broker is away or takes nothing. */
const MEANWHILE = 4;
const BROKER_GONE_MS = 30_000;
/** As tools/svc/rabbitmq/rabbitmq.ts sets it. */
const MEMORY = '512MB';

describe('a fault', () => {
  let drill: FaultDrill;

  beforeAll(async () => {
    drill = await FaultDrill.start('faults-of-servers');
  });
  afterAll(() => drill?.stop());
  beforeEach(() => drill.begin());

  it('of RabbitMQ, killed and started again, loses nothing and doubles nothing', async () => {
    const work = await drill.underWay();
    const met = await drill.whatIsAtRisk();
    await drill.platform.kill(drill.platform.rabbitMqPid);
    await drill.platform.up();
    await drill.expectNothingLost('kill -9 RabbitMQ', work, met);
  });

  it('of RabbitMQ, gone for 30 s, refuses honestly what it cannot take, and loses nothing', async () => {
    const work = await drill.underWay();
    const met = await drill.whatIsAtRisk();
    await drill.platform.kill(drill.platform.rabbitMqPid);
    const goneAt = Date.now();
    // Without a broker, too, the dispatcher gives up a POST that has no answer, and sends it again.
    await waitUntil('the POSTs on the wire to be given up', 20_000, () =>
      Promise.resolve(drill.endpoint.holding === 0),
    );
    drill.acknowledge();
    // A page is still made and shown; what would need the bank is refused, and not charged.
    const later = await drill.fillInNew(MEANWHILE);
    const refused = await drill.pressAll(later);
    expect(refused.map((result) => statusOf(result))).toEqual(later.map(() => 503));
    await waitUntil('30 s without a broker', 2 * BROKER_GONE_MS, () =>
      Promise.resolve(Date.now() - goneAt >= BROKER_GONE_MS),
    );
    expect(drill.books.approved()).toHaveLength(drill.chargedBefore + work.presses.length);

    await drill.platform.up();
    await drill.pressAllAgain(later);
    const presses = [...work.presses, ...later];
    await drill.expectNothingLost('RabbitMQ gone for 30 s', { ...work, presses }, met);
  });

  it('of RabbitMQ, which is full and blocks who publishes, loses nothing', async () => {
    const work = await drill.underWay();
    const met = await drill.whatIsAtRisk();
    await rabbitmqctl(drill.platform, 'set_vm_memory_high_watermark', 'absolute', '1');
    let later: PressOfPay[];
    try {
      drill.acknowledge();
      later = await drill.fillInNew(MEANWHILE);
      const meanwhile = await drill.pressAll(later);
      // Taken, or refused with the promise that nothing was charged, or under way and to be asked for: all have an answer.
      for (const result of meanwhile) expect([200, 202, 503]).toContain(statusOf(result));
      expect(await blockedConnections(drill.platform)).toBeGreaterThan(0);
    } finally {
      await rabbitmqctl(drill.platform, 'set_vm_memory_high_watermark', 'absolute', MEMORY);
    }
    await drill.pressAllAgain(later);
    const presses = [...work.presses, ...later];
    await drill.expectNothingLost('RabbitMQ full', { ...work, presses }, met);
  });

  it('of PostgreSQL, killed and started again, loses nothing and doubles nothing', async () => {
    const work = await drill.underWay();
    const met = await drill.whatIsAtRisk();
    await drill.platform.kill(drill.platform.postgresPid);
    const diedAt = new Date();
    drill.acknowledge();
    await drill.platform.up();
    // The dispatcher could not record what was acknowledged meanwhile, and sends it again under the same id.
    await drill.expectNothingLost('kill -9 PostgreSQL', work, met, { from: diedAt, to: new Date(), drainMs: 0 });
  });
});

function statusOf(result: PromiseSettledResult<Pressed>): number | string {
  return result.status === 'fulfilled' ? result.value.httpStatus : String(result.reason);
}
