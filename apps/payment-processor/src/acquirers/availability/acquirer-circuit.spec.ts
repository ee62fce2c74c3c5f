import { ManualClock } from '@svc/testing';
import type { ChargeOutcome } from '../acquirer.js';
import { AcquirerCircuit } from './acquirer-circuit.js';

const UNKNOWN: ChargeOutcome = { kind: 'unknown' };
const NOT_ATTEMPTED: ChargeOutcome = { kind: 'notAttempted' };
const APPROVED: ChargeOutcome = { kind: 'approved', acquirerReference: 'a-1' };
const DECLINED: ChargeOutcome = { kind: 'declined', reason: 'card.declined', acquirerReference: 'a-1' };
const VERIFICATION: ChargeOutcome = {
  kind: 'verificationRequired',
  challenge: { reference: 'c-1', url: 'https://bank.example/1' },
};

let clock: ManualClock;
let circuit: AcquirerCircuit;
let changes: string[];
beforeEach(() => {
  clock = new ManualClock();
  changes = [];
  circuit = new AcquirerCircuit(clock, (state) => changes.push(state));
});

/** Sends a charge with this outcome. Returns whether it reached the acquirer. */
const send = async (outcome: ChargeOutcome): Promise<boolean> =>
  (await circuit.execute(() => Promise.resolve(outcome))) !== undefined;
const sendAll = async (...outcomes: ChargeOutcome[]): Promise<boolean[]> => {
  const sent: boolean[] = [];
  for (const outcome of outcomes) sent.push(await send(outcome));
  return sent;
};
const openCircuit = (): Promise<boolean[]> => sendAll(UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN);
/** Sends a charge whose outcome the test decides later. */
const sendPending = () => {
  let respond: (outcome: ChargeOutcome) => void = () => undefined;
  const ended = circuit.execute(() => new Promise((resolve) => (respond = resolve)));
  return { ended, respond: (outcome: ChargeOutcome) => (respond(outcome), ended) };
};

test.each([
  ['unknown', UNKNOWN],
  ['notAttempted', NOT_ATTEMPTED],
])('five outcomes %s in a row open the circuit, and no further charge is sent', async (_, failure) => {
  await sendAll(failure, failure, failure, failure);
  expect(circuit.state).toBe('closed');
  expect(await sendAll(failure, APPROVED)).toEqual([true, false]);
  expect([circuit.state, changes]).toEqual(['open', ['open']]);
});

test.each([
  ['a decline', DECLINED],
  ['an approval', APPROVED],
  ['a required verification', VERIFICATION],
  ['a reversal', { kind: 'reversed' } as const],
  ['a blocked key', { kind: 'neverCharged' } as const],
  ['a refused request', { kind: 'notAttempted', hasResponded: true } as const],
  ['an outcome that the acquirer does not know yet', { kind: 'unknown', hasResponded: true } as const],
])('%s shows that the acquirer responds: failures are counted from zero again', async (_, response) => {
  await sendAll(UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, response, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN);
  expect([circuit.state, changes]).toEqual(['closed', []]);
  await send(UNKNOWN);
  expect(circuit.state).toBe('open');
});

test('any number of declines leaves the circuit closed', async () => {
  await sendAll(...Array<ChargeOutcome>(100).fill(DECLINED));
  expect(circuit.state).toBe('closed');
});

test('failures that are more than a minute apart are not in a row', async () => {
  for (let failure = 1; failure <= 10; failure++) {
    await send(UNKNOWN);
    clock.advance(60_001);
  }
  expect(circuit.state).toBe('closed');
  for (let failure = 1; failure <= 5; failure++) {
    await send(UNKNOWN);
    clock.advance(failure < 5 ? 60_000 : 0);
  }
  expect(circuit.state).toBe('open');
});

test('after five seconds one probe is sent, and its response closes the circuit', async () => {
  await openCircuit();
  clock.advance(4_999);
  expect(await send(APPROVED)).toBe(false);
  clock.advance(1);
  expect(circuit.state).toBe('halfOpen');
  const probe = sendPending();
  expect(await sendAll(APPROVED, APPROVED)).toEqual([false, false]);
  await probe.respond(DECLINED);
  expect([circuit.state, changes]).toEqual(['closed', ['open', 'closed']]);
  expect(await send(APPROVED)).toBe(true);
});

test('each failed probe opens the circuit for twice as long, at most for a minute, until the acquirer responds', async () => {
  await openCircuit();
  for (const openMs of [5_000, 10_000, 20_000, 40_000, 60_000, 60_000]) {
    clock.advance(openMs - 1);
    expect(circuit.state).toBe('open');
    clock.advance(1);
    expect(await send(NOT_ATTEMPTED)).toBe(true);
  }
  clock.advance(60_000);
  await send(APPROVED);
  await openCircuit();
  clock.advance(5_000);
  expect(circuit.state).toBe('halfOpen');
});

test('charges that were sent before the circuit opened do not keep it open', async () => {
  const sentEarlier = [sendPending(), sendPending()];
  await openCircuit();
  clock.advance(4_000);
  await sentEarlier[0]!.respond(UNKNOWN);
  clock.advance(1_000);
  expect(circuit.state).toBe('halfOpen');
  await sentEarlier[1]!.respond(UNKNOWN);
  expect([circuit.state, changes]).toEqual(['halfOpen', ['open']]);
});

test('the response to a charge that was sent before the circuit opened closes it', async () => {
  const sentEarlier = sendPending();
  await openCircuit();
  await sentEarlier.respond(APPROVED);
  expect(circuit.state).toBe('closed');
});

test('a probe without an outcome blocks further probes for 30 s only', async () => {
  await openCircuit();
  clock.advance(5_000);
  await expect(circuit.execute(() => Promise.reject(new Error('crash')))).rejects.toThrow('crash');
  clock.advance(29_999);
  expect(await send(APPROVED)).toBe(false);
  clock.advance(1);
  expect(await send(APPROVED)).toBe(true);
  expect(circuit.state).toBe('closed');
});

test('a clock that is set back does not keep the circuit open', async () => {
  await openCircuit();
  clock.jump(-3_600_000);
  clock.advance(5_000);
  expect(circuit.state).toBe('halfOpen');
});
