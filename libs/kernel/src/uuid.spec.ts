import { SystemClock } from './clock.js';
import { canonicalId, findUuidTime, isUuid, newUuid } from './uuid.js';

class FixedClock extends SystemClock {
  constructor(private readonly at: string) {
    super();
  }

  override now(): Date {
    return new Date(this.at);
  }
}

test('a new UUID has version 7, contains the time of the clock, and sorts by that time (C4)', () => {
  const earlier = newUuid(new FixedClock('2026-03-01T10:00:00.000Z'));
  const later = newUuid(new FixedClock('2026-03-01T10:00:00.001Z'));
  expect(earlier).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(parseInt(earlier.replaceAll('-', '').slice(0, 12), 16)).toBe(Date.parse('2026-03-01T10:00:00.000Z'));
  expect([later, earlier].sort()).toEqual([earlier, later]);
});

test.each(['0b6c3f4e-6f2a-1c3b-9d1e-7a8b9c0d1e2f', '0B6C3F4E-6F2A-4C3B-9D1E-7A8B9C0D1E2F'])(
  'isUuid accepts %s, a UUID of another version (C4)',
  (text) => expect(isUuid(text)).toBe(true),
);

test.each([
  undefined,
  7,
  '',
  '0b6c3f4e6f2a4c3b9d1e7a8b9c0d1e2f',
  'x0b6c3f4e-6f2a-4c3b-9d1e-7a8b9c0d1e2f',
  '0b6c3f4e-6f2a-4c3b-9d1e-7a8b9c0d1e2fx',
  ['0b6c3f4e-6f2a-4c3b-9d1e-7a8b9c0d1e2f'],
  '{0b6c3f4e-6f2a-4c3b-9d1e-7a8b9c0d1e2f}',
  ' '.repeat(36),
])('%j is not a UUID', (value) => expect(isUuid(value)).toBe(false));

test.each([
  ['0B6C3F4E-6F2A-4C3B-9D1E-7A8B9C0D1E2F', '0b6c3f4e-6f2a-4c3b-9d1e-7a8b9c0d1e2f'],
  ['0b6c3f4e-6f2a-4c3b-9d1e-7a8b9c0d1e2f', '0b6c3f4e-6f2a-4c3b-9d1e-7a8b9c0d1e2f'],
  ['Loyalty-17', 'Loyalty-17'],
  ['0B6C3F4E6F2A4C3B9D1E7A8B9C0D1E2F', '0B6C3F4E6F2A4C3B9D1E7A8B9C0D1E2F'],
])('the canonical form of the id %s is %s', (id, canonical) => expect(canonicalId(id)).toBe(canonical));

test('the time of a UUID of version 7 is found, and other ids have none', () => {
  const time = '2026-03-01T10:00:00.001Z';
  expect(findUuidTime(newUuid(new FixedClock(time)))?.toISOString()).toBe(time);
  for (const id of ['0b6c3f4e-6f2a-4c3b-9d1e-7a8b9c0d1e2f', '019ca8d7-25ab-777e-8b20', ''])
    expect(findUuidTime(id)).toBeUndefined();
});
