import { intersect, last24Hours, lastThreeMonths } from './windows.js';

test.each([
  ['2026-03-02T10:00:00.123Z', '2026-03-01T10:00:00.123Z'],
  ['2026-03-01T00:00:00.000Z', '2026-02-28T00:00:00.000Z'],
  // A change to daylight saving time does not matter, because all times are UTC.
  ['2026-03-29T12:00:00.000Z', '2026-03-28T12:00:00.000Z'],
])('at %s the last 24 hours began at %s', (now, from) =>
  expect(last24Hours(new Date(now)).from.toISOString()).toBe(from),
);

test.each([
  ['the same day three months earlier', '2026-06-15T10:00:00.123Z', '2026-03-15T10:00:00.123Z'],
  ['the day in the previous year', '2026-02-15T10:00:00.000Z', '2025-11-15T10:00:00.000Z'],
  ['31 December', '2026-03-31T23:59:59.999Z', '2025-12-31T23:59:59.999Z'],
  ['the last day of a shorter month', '2026-05-31T10:00:00.000Z', '2026-02-28T10:00:00.000Z'],
  ['the leap day as the last day of February', '2028-05-31T10:00:00.000Z', '2028-02-29T10:00:00.000Z'],
  ['the leap day of the year', '2028-05-29T10:00:00.000Z', '2028-02-29T10:00:00.000Z'],
  ['the day three months before a leap day', '2028-02-29T10:00:00.000Z', '2027-11-29T10:00:00.000Z'],
  ['the last day of a month of thirty days', '2026-07-31T00:00:00.000Z', '2026-04-30T00:00:00.000Z'],
  ['the first day of a month', '2026-04-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z'],
])('the window of three months begins on %s: at the time %s, the window begins at %s', (_, now, from) => {
  const argument = new Date(now);
  expect(lastThreeMonths(argument).from.toISOString()).toBe(from);
  expect(argument.toISOString()).toBe(now);
});

test.each([last24Hours, lastThreeMonths])(
  'the window of %p includes payments whose date is up to a day in the future',
  (windowOf) =>
    expect(windowOf(new Date('2026-03-31T10:00:00.000Z')).until.toISOString()).toBe('2026-04-01T10:00:00.000Z'),
);

test.each([
  ['the whole window', {}, undefined, '2026-03-01', '2026-04-01'],
  ['times within the window', { from: '2026-03-02', until: '2026-03-03' }, undefined, '2026-03-02', '2026-03-03'],
  ['times around the window', { from: '2026-02-01', until: '2026-05-01' }, undefined, '2026-03-01', '2026-04-01'],
  [
    'the payment of a cursor and older ones',
    { from: '2026-03-02', until: '2026-03-20' },
    '2026-03-10',
    '2026-03-02',
    '2026-03-10T00:00:00.001',
  ],
  ['a cursor after the end', { until: '2026-03-20' }, '2026-03-30', '2026-03-01', '2026-03-20'],
] as const)('%s', (_, times: { from?: string; until?: string }, cursor, from, until) => {
  const date = (text: string | undefined) => (text === undefined ? undefined : new Date(`${text}Z`));
  const window = { from: new Date('2026-03-01Z'), until: new Date('2026-04-01Z') };
  expect(intersect(window, { from: date(times.from), until: date(times.until) }, date(cursor))).toEqual({
    from: date(from),
    until: date(until),
  });
});
