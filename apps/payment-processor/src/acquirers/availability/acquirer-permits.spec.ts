import type { Mode } from '@svc/contracts';
import type { ServiceLog } from '@svc/service';
import { ManualClock } from '@svc/testing';
import type { PaymentProcessorConfig } from '../../config.js';
import type { ChargeRoute } from '../acquirers.js';
import { AcquirerCircuits } from './acquirer-circuits.js';
import { AcquirerPermits } from './acquirer-permits.js';

const routeTo = (acquirer: string, mode: Mode = 'test'): ChargeRoute => ({
  acquirer,
  account: { mode, accountReference: 'MID-1' },
});
const LOG = { error: () => undefined, info: () => undefined } as unknown as ServiceLog;

let clock: ManualClock;
let circuits: AcquirerCircuits;
let permits: AcquirerPermits;
beforeEach(() => {
  clock = new ManualClock();
  circuits = new AcquirerCircuits(clock, LOG);
  permits = new AcquirerPermits({ SVC_ACQUIRER_CONCURRENCY: 2 } as PaymentProcessorConfig, circuits, clock);
});

const take = (route: ChargeRoute) => permits.take(route, clock.later(10_000));
const usage = () =>
  [...permits.entries()].map(({ acquirer, mode, value }) => [acquirer, mode, value.used, value.waiters]);
async function openCircuit(route: ChargeRoute): Promise<void> {
  for (let failure = 1; failure <= 5; failure++)
    await circuits.get(route).execute(() => Promise.resolve({ kind: 'unknown' }));
}

test('each acquirer and mode has its own limit', async () => {
  await Promise.all([take(routeTo('stuck')), take(routeTo('stuck'))]);
  void take(routeTo('stuck'));
  for (const route of [routeTo('other'), routeTo('stuck', 'live')])
    expect(await take(route)).toMatchObject({ isCircuitOpen: false });
  expect(usage()).toEqual([
    ['stuck', 'test', 2, 1],
    ['other', 'test', 1, 0],
    ['stuck', 'live', 1, 0],
  ]);
});

test('a released permit goes to the charge that waits longest', async () => {
  const [first] = await Promise.all([take(routeTo('a')), take(routeTo('a'))]);
  const order: string[] = [];
  const waiting = ['third', 'fourth'].map(async (name) => {
    const permit = await take(routeTo('a'));
    order.push(name);
    return permit;
  });
  first!.release();
  const third = await waiting[0];
  expect([order, usage()]).toEqual([['third'], [['a', 'test', 2, 1]]]);
  third!.release();
  await waiting[1];
  expect(order).toEqual(['third', 'fourth']);
});

test('a permit that is free only after the deadline is returned', async () => {
  const [first] = await Promise.all([take(routeTo('a')), take(routeTo('a'))]);
  const late = take(routeTo('a'));
  clock.advance(10_000);
  first!.release();
  expect(await late).toBeUndefined();
  await take(routeTo('a'));
  expect(usage()).toEqual([['a', 'test', 2, 0]]);
});

test('when the circuit opens, waiting charges end their wait at once, and new charges do not wait', async () => {
  await Promise.all([take(routeTo('a')), take(routeTo('a'))]);
  const waiting = [take(routeTo('a')), take(routeTo('a'))];
  await openCircuit(routeTo('a'));
  expect(await Promise.all([...waiting, take(routeTo('a'))])).toMatchObject(Array(3).fill({ isCircuitOpen: true }));
  expect(usage()).toEqual([['a', 'test', 2, 0]]);
});

test('charges that ended their wait take no permit later', async () => {
  const held = await Promise.all([take(routeTo('a')), take(routeTo('a'))]);
  const waiting = [take(routeTo('a')), take(routeTo('a'))];
  await openCircuit(routeTo('a'));
  await Promise.all(waiting);
  for (const permit of held) permit!.release();
  clock.advance(5_000);
  expect(await Promise.all([take(routeTo('a')), take(routeTo('a'))])).toMatchObject(
    Array(2).fill({ isCircuitOpen: false }),
  );
  expect(usage()).toEqual([['a', 'test', 2, 0]]);
});

test('an open circuit of an acquirer does not affect another acquirer, or the other mode', async () => {
  await openCircuit(routeTo('a'));
  expect(await take(routeTo('b'))).toMatchObject({ isCircuitOpen: false });
  expect(await take(routeTo('a', 'live'))).toMatchObject({ isCircuitOpen: false });
  expect([circuits.get(routeTo('a')).state, circuits.get(routeTo('a', 'live')).state]).toEqual(['open', 'closed']);
});

test('while the circuit is half-open, charges wait for a permit', async () => {
  await Promise.all([take(routeTo('a')), take(routeTo('a'))]);
  await openCircuit(routeTo('a'));
  clock.advance(5_000);
  void take(routeTo('a'));
  expect(usage()).toEqual([['a', 'test', 2, 1]]);
});
