import fc from 'fast-check';
import { type Circuit, circuitAfterFailure, isFailure } from './circuit.js';

const NOW = new Date('2026-03-01T10:00:00.000Z');
const SECOND = 1_000;

const CLOSED: Circuit = { failures: 0, openings: 0, openUntil: undefined, probeLeaseId: undefined };

function afterFailures(times: number, circuit: Circuit = CLOSED): Circuit {
  return times === 0 ? circuit : afterFailures(times - 1, circuitAfterFailure(circuit, 'another lease', NOW));
}

/** Returns the circuit after its probe was leased. */
const withProbe = (circuit: Circuit, leaseId = 'lease of the probe'): Circuit => ({
  ...circuit,
  probeLeaseId: leaseId,
});
const openForMs = ({ openUntil }: Circuit): number => openUntil!.getTime() - NOW.getTime();

describe('an attempt', () => {
  it.each([undefined, 429, 500, 502, 503, 504, 599])(
    'is a failure of the endpoint if the status is %p',
    (statusCode) => {
      expect(isFailure(statusCode === undefined ? {} : { statusCode })).toBe(true);
    },
  );

  it.each([200, 204, 301, 307, 400, 401, 404, 408, 410, 428, 430, 499])(
    'shows that the endpoint is up if the status is %i',
    (statusCode) => {
      expect(isFailure({ statusCode })).toBe(false);
    },
  );
});

describe('a circuit', () => {
  it('stays closed for four failures in a row, and opens for ten seconds at the fifth failure', () => {
    expect(afterFailures(4)).toEqual({ ...CLOSED, failures: 4 });
    expect(afterFailures(5)).toEqual({
      failures: 5,
      openings: 1,
      openUntil: new Date(NOW.getTime() + 10 * SECOND),
      probeLeaseId: undefined,
    });
  });

  it('is not extended by failures of attempts that were in flight when it opened', () => {
    const open = afterFailures(5);
    expect(afterFailures(9, open)).toEqual({ ...open, failures: 14 });
    expect(circuitAfterFailure(withProbe(open), 'another lease', NOW)).toMatchObject({
      openings: 1,
      openUntil: open.openUntil,
      probeLeaseId: 'lease of the probe',
    });
  });

  it('opens for twice as long each time its probe fails, but for at most five minutes', () => {
    let circuit = afterFailures(5);
    const openDurations = [openForMs(circuit)];
    for (let i = 0; i < 7; i++) {
      circuit = circuitAfterFailure(withProbe(circuit), 'lease of the probe', NOW);
      openDurations.push(openForMs(circuit));
    }
    expect(openDurations.map((ms) => ms / SECOND)).toEqual([10, 20, 40, 80, 160, 300, 300, 300]);
  });

  it('has no probe in flight after its probe failed', () => {
    expect(circuitAfterFailure(withProbe(afterFailures(5)), 'lease of the probe', NOW).probeLeaseId).toBeUndefined();
  });

  it('opens at the fifth failure and after each failed probe, for at most five minutes, in any order of failures', () => {
    // With up to 60 failures in a row, the circuit opens often enough to reach the maximum of five minutes.
    const generatedFailure = fc.record({ isProbe: fc.boolean(), afterMs: fc.integer({ min: 0, max: 10 * 60_000 }) });
    // The durations of all openings in milliseconds, by their cause.
    const openings = { byFailures: new Set<number>(), byProbes: new Set<number>() };
    fc.assert(
      fc.property(fc.array(generatedFailure, { minLength: 20, maxLength: 60 }), (failures) => {
        let circuit = CLOSED;
        let now = NOW.getTime();
        for (const { isProbe, afterMs } of failures) {
          now += afterMs;
          const before = isProbe && circuit.openUntil ? withProbe(circuit) : circuit;
          const wasProbe = before.probeLeaseId !== undefined;
          circuit = circuitAfterFailure(before, wasProbe ? 'lease of the probe' : 'another lease', new Date(now));
          expect(circuit.failures).toBe(before.failures + 1);
          expect(circuit.openUntil !== undefined).toBe(circuit.failures >= 5);
          expect(circuit.openings > 0).toBe(circuit.openUntil !== undefined);
          const hasOpened = circuit.openings > before.openings;
          expect(hasOpened).toBe(wasProbe || circuit.failures === 5);
          // The circuit opens for twice as long each time, but for at most five minutes.
          const openMs = Math.min(10 * SECOND * 2 ** before.openings, 300 * SECOND);
          expect(circuit.openUntil).toEqual(hasOpened ? new Date(now + openMs) : before.openUntil);
          if (hasOpened) openings[wasProbe ? 'byProbes' : 'byFailures'].add(openMs);
        }
      }),
    );
    expect([...openings.byFailures]).toEqual([10 * SECOND]);
    expect([...openings.byProbes].sort((a, b) => a - b)).toEqual([20, 40, 80, 160, 300].map((s) => s * SECOND));
  });
});
