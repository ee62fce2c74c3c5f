/** The statement that accepts payments computes the same rule as velocity-limits.ts. */
import { newUuidAt } from '@svc/kernel';
import { namedStatement } from '@svc/persistence';
import fc from 'fast-check';
import { type Processor, startProcessor } from '../../test/processor.js';
import { LIMITS_ON } from '../../test/velocity/tested-cards.js';
import { CardFingerprints } from './card-fingerprints.js';
import { FIND_REFUSED_CHECK } from './counters/count-in-flight.query.js';
import { type VelocityCheck, VelocityChecks } from './velocity-checks.js';
import {
  DEFAULT_LIMITS,
  HOUR_MS,
  LONGEST_WINDOW_MS,
  MAX_IN_FLIGHT_MS,
  remainingAttempts,
  type VelocityCounter,
  windowLimitOf,
} from './velocity-limits.js';

let processor: Processor;
beforeAll(async () => {
  processor = await startProcessor(LIMITS_ON);
});
afterAll(() => processor.stop());

const agesOf = (maxMs: number, maxLength: number) =>
  fc.array(fc.oneof(fc.integer({ min: 0, max: maxMs }), fc.integer({ min: 0, max: 2 * HOUR_MS })), { maxLength });
const optional = (arbitrary: fc.Arbitrary<number>) => fc.option(arbitrary, { nil: undefined });
const histories = fc.record({
  declines: agesOf(LONGEST_WINDOW_MS + HOUR_MS, 14),
  approvals: fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 14, maxLength: 14 }),
  inFlight: agesOf(2 * MAX_IN_FLIGHT_MS, 5),
  reset: optional(fc.integer({ min: 0, max: LONGEST_WINDOW_MS })),
  closed: optional(fc.integer({ min: -HOUR_MS, max: HOUR_MS })),
});

const REFUSED = namedStatement(
  `WITH item AS (SELECT $checks::jsonb AS checks, 1 AS "attackLevel") ${FIND_REFUSED_CHECK}`,
);

test.each(['card', 'address'] as const)('of a counter of scope %s for random histories', async (scope) => {
  const now = processor.clock.now();
  const ago = (milliseconds: number): Date => new Date(now.getTime() - milliseconds);
  const fingerprint = processor.service.app.get(CardFingerprints).ofCard('test', '4242424242424242');
  const subject = { mode: 'test', merchantId: 1, siteId: 1, payer: { address: '192.0.2.7' } } as const;
  const { checks } = (await processor.service.app.get(VelocityChecks).build(subject, fingerprint))!;
  const check = checks.find(({ key }) => key.startsWith(scope)) as VelocityCheck;
  await fc.assert(
    fc.asyncProperty(histories, async ({ declines, approvals, inFlight, reset, closed }) => {
      const counter: VelocityCounter = {
        declinedAt: declines.map(ago),
        approvals: approvals.slice(0, declines.length),
        inFlightSince: inFlight.map(ago),
        resetAt: reset === undefined ? undefined : ago(reset),
        closedUntil: closed === undefined ? undefined : ago(closed),
      };
      await processor.superuser.query('DELETE FROM velocity_counters');
      await processor.superuser.query(
        `INSERT INTO velocity_counters (counter_key, in_flight, declined_at, approvals, declined_cards, reset_at, closed_until, expires_at)
         VALUES ($1, $2, $3, $4, $4, $5, $6, now())`,
        [
          check.key,
          counter.inFlightSince.map((time) => newUuidAt(time)),
          counter.declinedAt,
          counter.approvals,
          counter.resetAt ?? null,
          counter.closedUntil ?? null,
        ],
      );
      const rows = await processor.dataSource.query<unknown[]>(
        REFUSED.text,
        REFUSED.valuesOf({ checks: JSON.stringify([check]) }),
      );
      // Attempts in flight refuse only their own card.
      const counted = scope === 'card' ? counter : { ...counter, inFlightSince: [] };
      const remaining = remainingAttempts(counted, windowLimitOf(scope, DEFAULT_LIMITS, now), now);
      expect(rows.length > 0).toBe(remaining <= 0);
    }),
    { numRuns: 300 },
  );
});
