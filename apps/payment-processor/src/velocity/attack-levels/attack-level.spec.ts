import fc from 'fast-check';
import { DAY_MS, DEFAULT_LIMITS, HOUR_MS } from '../velocity-limits.js';
import { BURST_HOLD_MS, DAY_HOLD_MS, decideAttackLevel } from './attack-level.js';

const NOW = new Date('2026-03-01T10:00:00.000Z');
const BURST_MS = 600_000;
const ago = (milliseconds: number): Date => new Date(NOW.getTime() - milliseconds);
const later = (milliseconds: number): Date => ago(-milliseconds);
/** `count` declines of this age, with `approved` approvals altogether. */
const declinesOf = (count: number, approved = 0, ageMs = 1) => ({
  declinedAt: Array.from({ length: count }, () => ago(ageMs)),
  approvals: Array.from({ length: count }, (_, nth) => (nth === 0 ? approved : 0)),
});
const decide = (declines: Parameters<typeof decideAttackLevel>[0], current?: Parameters<typeof decideAttackLevel>[1]) =>
  decideAttackLevel(declines, current, DEFAULT_LIMITS, NOW);

describe('a burst of declines', () => {
  test.each([
    [19, undefined],
    [20, 1],
    [39, 1],
    [40, 2],
    [79, 2],
    [80, 3],
    [100, 3],
  ])('of %d cards within ten minutes has level %s', (count, level) => {
    expect(decide(declinesOf(count))?.level).toBe(level);
    expect(decide(declinesOf(count, 0, BURST_MS - 1))?.level).toBe(level);
  });

  test('holds for an hour', () => {
    expect(decide(declinesOf(20))).toEqual({ level: 1, endsAt: later(BURST_HOLD_MS) });
  });

  test('does not contain declines that are ten minutes old', () => {
    expect(decide(declinesOf(20, 0, BURST_MS))).toBeUndefined();
  });

  test('is an attack if a fifth of the cards were declined', () => {
    expect(decide(declinesOf(20, 80))?.level).toBe(1);
    expect(decide(declinesOf(20, 81))).toBeUndefined();
  });
});

describe('a slow attack', () => {
  test.each([
    [59, undefined],
    [60, 1],
  ])('of %d cards within 24 hours has level %s', (count, level) => {
    expect(decide(declinesOf(count, 0, DAY_MS - 1))?.level).toBe(level);
  });

  test('holds for six hours', () => {
    expect(decide(declinesOf(60, 0, HOUR_MS))).toEqual({ level: 1, endsAt: later(DAY_HOLD_MS) });
  });

  test('does not contain declines that are 24 hours old', () => {
    expect(decide(declinesOf(60, 0, DAY_MS))).toBeUndefined();
  });

  test('is an attack if three tenths of the cards were declined', () => {
    expect(decide(declinesOf(60, 140, HOUR_MS))?.level).toBe(1);
    expect(decide(declinesOf(60, 141, HOUR_MS))).toBeUndefined();
  });
});

describe('a site under attack', () => {
  test('rises at once', () => {
    expect(decide(declinesOf(40), { level: 1, endsAt: later(BURST_HOLD_MS) })?.level).toBe(2);
  });

  test('keeps its level while at least half of its time is left', () => {
    for (const level of [1, 2, 3] as const)
      expect(decide(declinesOf(20), { level, endsAt: later(BURST_HOLD_MS / 2) })).toBeUndefined();
  });

  test('is extended, with the level of the last ten minutes, when less than half of its time is left', () => {
    for (const level of [1, 2, 3] as const)
      expect(decide(declinesOf(20), { level, endsAt: later(BURST_HOLD_MS / 2 - 1) })).toEqual({
        level: 1,
        endsAt: later(BURST_HOLD_MS),
      });
  });

  test('whose level has ended begins again', () => {
    expect(decide(declinesOf(20), { level: 3, endsAt: NOW })?.level).toBe(1);
  });
});

test('regular trade is never an attack: at most 8 % of the cards of a busy day are declined', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.integer({ min: 0, max: DAY_MS }), fc.integer({ min: 12, max: 100 })), { maxLength: 100 }),
      (declines) => {
        const declinedAt = declines.map(([age]) => ago(age));
        const approvals = declines.map(([, approved]) => approved);
        expect(decide({ declinedAt, approvals })).toBeUndefined();
      },
    ),
  );
});

test('further approvals never raise a level, and further declines never lower it', () => {
  const rank = (decision: ReturnType<typeof decide>): number => decision?.level ?? 0;
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.integer({ min: 0, max: DAY_MS }), fc.nat(9)), { minLength: 1, maxLength: 99 }),
      fc.integer({ min: 0, max: DAY_MS }),
      (declines, age) => {
        const declinedAt = declines.map(([ageMs]) => ago(ageMs));
        const approvals = declines.map(([, approved]) => approved);
        const before = rank(decide({ declinedAt, approvals }));
        expect(rank(decide({ declinedAt, approvals: approvals.map((approved) => approved + 1) }))).toBeLessThanOrEqual(
          before,
        );
        const more = { declinedAt: [...declinedAt, ago(age)], approvals: [...approvals, 0] };
        expect(rank(decide(more))).toBeGreaterThanOrEqual(before);
      },
    ),
  );
});
