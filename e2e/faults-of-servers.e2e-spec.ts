/**
 * Faults of the servers below a distributed platform: PostgreSQL and RabbitMQ killed, RabbitMQ unavailable for 30 s,
 * RabbitMQ full. One after the other, each during unfinished payments.
 */
import { waitUntil } from '@svc/testing';
import type { PayAnswer, PayRequest } from './callers/payer.js';
import { FaultDrill } from './faults/fault-drill.js';
import { blockedConnections, rabbitmqctl } from './platform/rabbitmqctl.js';

/** Payments that are tried while the broker is unavailable or full. */
const MEANWHILE = 4;
const BROKER_GONE_MS = 30_000;
/** The value in tools/svc/rabbitmq/rabbitmq.ts. */
const MEMORY = '512MB';

describe('a fault', () => {
  let drill: FaultDrill;

  beforeAll(async () => {
    drill = await FaultDrill.start('faults-of-servers');
  });
  afterAll(() => drill?.stop());
  beforeEach(() => drill.begin());

  it('of RabbitMQ, killed and started again, loses and duplicates nothing', async () => {
    const work = await drill.startPayments();
    const met = await drill.describeUnfinished();
    await drill.platform.kill(drill.platform.rabbitMqPid);
    await drill.platform.up();
    await drill.expectNothingLost('kill -9 RabbitMQ', work, met);
  });

  it('of RabbitMQ, unavailable for 30 s, refuses new payments without a charge, and loses nothing', async () => {
    const work = await drill.startPayments();
    const met = await drill.describeUnfinished();
    await drill.platform.kill(drill.platform.rabbitMqPid);
    const goneAt = Date.now();
    // Without a broker, too, the dispatcher aborts a POST that gets no answer, and sends it again.
    await waitUntil('the POSTs on the wire to be given up', 20_000, () =>
      Promise.resolve(drill.endpoint.heldCount === 0),
    );
    drill.acknowledge();
    // The page still works; requests that need the acquirer are refused without a charge.
    const later = await drill.preparePayRequests(MEANWHILE);
    const refused = await drill.sendAll(later);
    expect(refused.map((result) => statusOf(result))).toEqual(later.map(() => 503));
    await waitUntil('30 s without a broker', 2 * BROKER_GONE_MS, () =>
      Promise.resolve(Date.now() - goneAt >= BROKER_GONE_MS),
    );
    expect(drill.books.approved()).toHaveLength(drill.chargesBefore + work.payRequests.length);

    await drill.platform.up();
    await drill.resendAll(later);
    const payRequests = [...work.payRequests, ...later];
    await drill.expectNothingLost('RabbitMQ gone for 30 s', { ...work, payRequests }, met);
  });

  it('of RabbitMQ, full and blocking publishers, loses nothing', async () => {
    const work = await drill.startPayments();
    const met = await drill.describeUnfinished();
    await rabbitmqctl(drill.platform, 'set_vm_memory_high_watermark', 'absolute', '1');
    let later: PayRequest[];
    try {
      drill.acknowledge();
      later = await drill.preparePayRequests(MEANWHILE);
      const meanwhile = await drill.sendAll(later);
      // Each request has an answer: accepted, refused with the promise of no charge, or still processing.
      for (const result of meanwhile) expect([200, 202, 503]).toContain(statusOf(result));
      expect(await blockedConnections(drill.platform)).toBeGreaterThan(0);
    } finally {
      await rabbitmqctl(drill.platform, 'set_vm_memory_high_watermark', 'absolute', MEMORY);
    }
    await drill.resendAll(later);
    const payRequests = [...work.payRequests, ...later];
    await drill.expectNothingLost('RabbitMQ full', { ...work, payRequests }, met);
  });

  it('of PostgreSQL, killed and started again, loses and duplicates nothing', async () => {
    const work = await drill.startPayments();
    const met = await drill.describeUnfinished();
    await drill.platform.kill(drill.platform.postgresPid);
    const diedAt = new Date();
    drill.acknowledge();
    await drill.platform.up();
    // The dispatcher could not record the acknowledgements meanwhile, so it sends again with the same id.
    await drill.expectNothingLost('kill -9 PostgreSQL', work, met, { from: diedAt, to: new Date(), drainMs: 0 });
  });
});

function statusOf(result: PromiseSettledResult<PayAnswer>): number | string {
  return result.status === 'fulfilled' ? result.value.httpStatus : String(result.reason);
}
