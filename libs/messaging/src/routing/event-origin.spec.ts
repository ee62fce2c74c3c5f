import { matchesOrigin, originOf } from './event-origin.js';

const sessionPayment = { source: { kind: 'session' }, paymentReference: 'P1' };
const partnerPayment = { source: { kind: 'invoice' }, paymentReference: 'P2', partner: { organisationId: 'o' } };
const event = (payload: unknown, type = 'paid.v1') => ({
  id: 'i',
  type,
  aggregateId: 'a',
  aggregateVersion: 1,
  occurredAt: '2026-03-01T10:00:00.000Z',
  payload,
});

test.each([
  [sessionPayment, { source: 'session', payer: 'page' }],
  [partnerPayment, { source: 'invoice', payer: 'partner' }],
  [{ source: { kind: 'session' } }, undefined],
  [{ paymentReference: 'P1' }, undefined],
  [null, undefined],
])('originOf(%j) is %j', (payload, origin) => {
  expect(originOf(payload)).toEqual(origin);
});

test.each([
  [{ payer: 'partner' }, sessionPayment, false],
  [{ payer: 'partner' }, partnerPayment, true],
  [{ payer: 'page' }, sessionPayment, true],
  [{ source: 'session' }, sessionPayment, true],
  [{ source: 'session' }, partnerPayment, false],
  [{ source: 'invoice', payer: 'page' }, partnerPayment, false],
  [{}, partnerPayment, true],
  [{}, { text: 'no payment' }, false],
] as const)('a subscription to the origin %j matches an event with the payload %j: %j', (origin, payload, expected) => {
  expect(matchesOrigin(event(payload), new Map([['paid.v1', origin]]))).toBe(expected);
  expect(matchesOrigin(event(payload, 'other.v1'), new Map([['paid.v1', origin]]))).toBe(true);
});
