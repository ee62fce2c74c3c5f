/**
 * Faults of a distributed platform, one after the other, each during unfinished payments. The faults are a kill of each
 * process that takes part in a payment, a kill of PostgreSQL, a kill of RabbitMQ, RabbitMQ unavailable for 30 s, and a
 * full RabbitMQ.
 */
import { letTimePass, waitUntil } from '@svc/testing';
import type { SupervisedAppName } from '../tools/svc/processes/processes.ts';
import type { PayAnswer, PayRequest } from './callers/payer.js';
import { FaultDrill } from './faults/fault-drill.js';
import { blockedConnections, rabbitmqctl } from './platform/rabbitmqctl.js';

/** Number of payments that start while RabbitMQ is unavailable or full. */
const PAYMENTS_DURING_FAULT = 4;
const OUTAGE_MS = 30_000;
/** RabbitMQ's memory limit in tools/svc/rabbitmq/rabbitmq.ts. */
const MEMORY_LIMIT = '512MB';

describe('faults of a distributed platform', () => {
  let drill: FaultDrill;

  beforeAll(async () => {
    drill = await FaultDrill.start('faults');
  });
  afterAll(() => drill?.stop());
  beforeEach(() => drill.begin());

  it.each<SupervisedAppName>([
    'front',
    'identity',
    'hosted-gateway',
    'payment-processor',
    'webhook-dispatcher',
    'simulated-acquirer',
  ])('a kill of %s loses and duplicates nothing', async (app) => {
    const work = await drill.startPayments();
    const { pid, restarts } = drill.platform.process(app);
    const unfinished = await drill.describeUnfinished();
    await drill.platform.kill(pid);
    const killedAt = new Date();
    await waitUntil(`${app} to be started again`, 30_000, () =>
      Promise.resolve((drill.platform.processes()[app]?.restarts ?? 0) > restarts),
    );
    const isDispatcher = app === 'webhook-dispatcher';
    if (isDispatcher)
      await waitUntil('its connections to end', 10_000, () => Promise.resolve(drill.endpoint.heldCount === 0));
    await drill.expectNothingLost(
      `kill -9 ${app}`,
      work,
      unfinished,
      isDispatcher ? { from: killedAt, to: killedAt, drainMs: 0 } : undefined,
    );
    if (app === 'simulated-acquirer') await drill.closeAcquirerCircuit();
  });

  it('a kill of RabbitMQ, which is then started again, loses and duplicates nothing', async () => {
    const work = await drill.startPayments();
    const unfinished = await drill.describeUnfinished();
    await drill.platform.kill(drill.platform.rabbitMqPid);
    await drill.platform.up();
    await drill.expectNothingLost('kill -9 RabbitMQ', work, unfinished);
  });

  it('while RabbitMQ is unavailable for 30 s, new payments are rejected without a charge, and nothing is lost', async () => {
    const work = await drill.startPayments();
    const unfinished = await drill.describeUnfinished();
    await drill.platform.kill(drill.platform.rabbitMqPid);
    const stoppedAt = Date.now();
    // Also without a broker, the dispatcher aborts a POST that gets no answer, and sends the notification again.
    await waitUntil('the dispatcher to abort the unanswered POSTs', 20_000, () =>
      Promise.resolve(drill.endpoint.heldCount === 0),
    );
    drill.acknowledge();
    // The page still works, but requests that need the acquirer are refused without a charge.
    const laterRequests = await drill.preparePayRequests(PAYMENTS_DURING_FAULT);
    const refused = await drill.sendAll(laterRequests);
    expect(refused.map((result) => statusOf(result))).toEqual(laterRequests.map(() => 503));
    await letTimePass(stoppedAt + OUTAGE_MS - Date.now());
    expect(drill.consistency.approvedCharges()).toHaveLength(drill.chargesBefore + work.payRequests.length);

    await drill.platform.up();
    await drill.resendAll(laterRequests);
    const payRequests = [...work.payRequests, ...laterRequests];
    await drill.expectNothingLost('RabbitMQ gone for 30 s', { ...work, payRequests }, unfinished);
  });

  it('a full RabbitMQ, which blocks publishers, loses nothing', async () => {
    const work = await drill.startPayments();
    const unfinished = await drill.describeUnfinished();
    await rabbitmqctl(drill.platform, 'set_vm_memory_high_watermark', 'absolute', '1');
    let laterRequests: PayRequest[];
    try {
      drill.acknowledge();
      laterRequests = await drill.preparePayRequests(PAYMENTS_DURING_FAULT);
      const results = await drill.sendAll(laterRequests);
      // Each request gets a response: accepted, rejected without a charge, or still processing.
      for (const result of results) expect([200, 202, 503]).toContain(statusOf(result));
      expect(await blockedConnections(drill.platform)).toBeGreaterThan(0);
    } finally {
      await rabbitmqctl(drill.platform, 'set_vm_memory_high_watermark', 'absolute', MEMORY_LIMIT);
    }
    await drill.resendAll(laterRequests);
    const payRequests = [...work.payRequests, ...laterRequests];
    await drill.expectNothingLost('RabbitMQ full', { ...work, payRequests }, unfinished);
  });

  it('a kill of PostgreSQL, which is then started again, loses and duplicates nothing', async () => {
    const work = await drill.startPayments();
    const unfinished = await drill.describeUnfinished();
    await drill.platform.kill(drill.platform.postgresPid);
    const killedAt = new Date();
    drill.acknowledge();
    await drill.platform.up();
    // The dispatcher could not record the acknowledgements meanwhile, so it sends the notifications again with the same
    // ids.
    await drill.expectNothingLost('kill -9 PostgreSQL', work, unfinished, {
      from: killedAt,
      to: new Date(),
      drainMs: 0,
    });
  });
});

function statusOf(result: PromiseSettledResult<PayAnswer>): number | string {
  return result.status === 'fulfilled' ? result.value.httpStatus : String(result.reason);
}
