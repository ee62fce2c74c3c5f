import { planWeek, ROASTERY_SITES, startOfWeek } from './plan-week.ts';

// 14:30 in Johannesburg.
const NOW = new Date('2026-03-11T12:30:00.000Z');
const visits = planWeek(NOW);
const payments = visits.flatMap((visit) => visit.payments);
const localHour = (date: Date): number => (date.getUTCHours() + 2) % 24;

it('has about 300 payments on seven days and today until now, in the order of time', () => {
  expect(payments.length).toBeGreaterThan(260);
  expect(payments.length).toBeLessThan(340);
  const times = visits.flatMap(({ at, payments: paid }) => [at, ...paid.map(({ paidAt }) => paidAt)]);
  expect(times).toEqual([...times].sort((a, b) => a.getTime() - b.getTime()));
  expect(times[0]!.getTime()).toBeGreaterThan(startOfWeek(NOW).getTime());
  expect(times.at(-1)!.getTime()).toBeLessThan(NOW.getTime());
  expect(startOfWeek(NOW).toISOString()).toBe('2026-03-03T22:00:00.000Z');
  const days = new Set(times.map((time) => new Date(time.getTime() + 7_200_000).toISOString().slice(0, 10)));
  expect(days.size).toBe(8);
});

it('is within the hours of the shops, and in the evening of the online shop alone', () => {
  const hours = payments.map(({ paidAt }) => localHour(paidAt));
  expect([Math.min(...hours), Math.max(...hours)]).toEqual([7, 20]);
  const evening = payments.filter(({ paidAt }) => localHour(paidAt) > 18);
  expect(new Set(evening.map(({ siteIndex }) => siteIndex))).toEqual(new Set([0]));
  expect(new Set(payments.map(({ siteIndex }) => siteIndex)).size).toBe(ROASTERY_SITES);
});

it('has declined payments, refunds in full and in part, one refused webhook, and each order once', () => {
  const refunded = payments.filter(({ refundAmount }) => refundAmount > 0);
  expect(refunded.some(({ refundAmount, amount }) => refundAmount === amount)).toBe(true);
  expect(refunded.some(({ refundAmount, amount }) => refundAmount < amount)).toBe(true);
  expect(payments.filter(({ cardNumber }) => cardNumber.startsWith('40000000000')).length).toBeGreaterThan(10);
  expect(payments.filter(({ isWebhookRefused }) => isWebhookRefused)).toHaveLength(1);
  expect(new Set(payments.map(({ orderId }) => orderId)).size).toBe(payments.length);
});

it('is the same for the same time, and has only the week before in the first hours of a day', () => {
  expect(planWeek(NOW)).toEqual(visits);
  const early = planWeek(new Date('2026-03-11T00:30:00.000Z'));
  expect(early.at(-1)!.at.toISOString().slice(0, 10)).toBe('2026-03-10');
});
