/** Kills every process of a distributed platform, one after the other, each during unfinished payments. */
import { waitUntil } from '@svc/testing';
import type { SupervisedAppName } from '../tools/svc/processes/processes.ts';
import { FaultDrill } from './faults/fault-drill.js';

describe('a fault', () => {
  let drill: FaultDrill;

  beforeAll(async () => {
    drill = await FaultDrill.start('faults-of-processes');
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
  ])('of %s, killed, loses and duplicates nothing', async (app) => {
    const work = await drill.startPayments();
    const { pid, restarts } = drill.platform.process(app);
    const met = await drill.describeUnfinished();
    await drill.platform.kill(pid);
    const diedAt = new Date();
    await waitUntil(`${app} to be started again`, 30_000, () =>
      Promise.resolve((drill.platform.processes()[app]?.restarts ?? 0) > restarts),
    );
    const sends = app === 'webhook-dispatcher';
    if (sends) await waitUntil('its connections to end', 10_000, () => Promise.resolve(drill.endpoint.heldCount === 0));
    await drill.expectNothingLost(
      `kill -9 ${app}`,
      work,
      met,
      sends ? { from: diedAt, to: diedAt, drainMs: 0 } : undefined,
    );
  });
});
