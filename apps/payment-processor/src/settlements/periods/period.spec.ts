import { LocalCalendar } from '@svc/kernel';
import { listDays, parsePeriod } from './period.js';

const NEW_YORK = new LocalCalendar([{ zone: 'America/New_York' }]);
const NOW = new Date('2026-03-20T03:30:00.000Z');

test.each([
  // The clocks change on 8 March, so the beginning of the month and its end have different offsets.
  ['2026-02', '2026-02-01', '2026-02-28', '2026-02-01T05:00:00.000Z', '2026-03-01T05:00:00.000Z'],
  ['2024-02', '2024-02-01', '2024-02-29', '2024-02-01T05:00:00.000Z', '2024-03-01T05:00:00.000Z'],
  ['2025-12', '2025-12-01', '2025-12-31', '2025-12-01T05:00:00.000Z', '2026-01-01T05:00:00.000Z'],
  // It is still 19 March in New York.
  ['2026-03', '2026-03-01', '2026-03-19', '2026-03-01T05:00:00.000Z', '2026-03-20T04:00:00.000Z'],
  ['2026-03-08', '2026-03-08', '2026-03-08', '2026-03-08T05:00:00.000Z', '2026-03-09T04:00:00.000Z'],
])('%s is from %s to %s', (period, from, to, start, end) => {
  expect(parsePeriod(period, NEW_YORK, NOW)).toEqual({ from, to, start: new Date(start), end: new Date(end) });
});

test.each([
  '2026-04',
  '2026-03-20',
  '2026-13',
  '2026-00',
  '2026-02-30',
  '2026',
  '2026-3',
  '1999-12',
  '',
  ' 2026-03',
  '2026-03\n',
])('the period %j is refused', (period) => {
  expect(() => parsePeriod(period, NEW_YORK, NOW)).toThrow(expect.objectContaining({ code: 'request.invalid' }));
});

test('the days of a range include the first and the last one', () => {
  expect(listDays({ from: '2026-02-27', to: '2026-03-02' })).toEqual([
    ...['2026-02-27', '2026-02-28', '2026-03-01', '2026-03-02'],
  ]);
  expect(listDays({ from: '2026-02-27', to: '2026-02-27' })).toEqual(['2026-02-27']);
});
