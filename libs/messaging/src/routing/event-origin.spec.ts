import { matchesOrigin, originOf } from './event-origin.js';

const session = { source: { kind: 'session' }, paymentReference: 'P1' };
const partners = { source: { kind: 'invoice' }, paymentReference: 'P2', partner: { organisationId: 'o' } };
const event = (payload: unknown, type = 'paid.v1') => ({
  id: 'i',
  type,
  aggregateId: 'a',
  aggregateVersion: 1,
  occurredAt: '2026-03-01T10:00:00.000Z',
  payload,
});

test.each([
  [session, { source: 'session', payer: 'page' }],
  [partners, { source: 'invoice', payer: 'partner' }],
  [{ source: { kind: 'session' } }, undefined],
  [{ paymentReference: 'P1' }, undefined],
  [null, undefined],
])('the origin of %j is %j', (payload, origin) => {
  expect(originOf(payload)).toEqual(origin);
});

test.each([
  [{ payer: 'partner' }, session, false],
  [{ payer: 'partner' }, partners, true],
  [{ payer: 'page' }, session, true],
  [{ source: 'session' }, session, true],
  [{ source: 'session' }, partners, false],
  [{ source: 'invoice', payer: 'page' }, partners, false],
  [{}, partners, true],
  [{}, { text: 'no payment' }, false],
] as const)('a consumer of %j of a type receives %j: %j', (origin, payload, expected) => {
  expect(matchesOrigin(event(payload), new Map([['paid.v1', origin]]))).toBe(expected);
  expect(matchesOrigin(event(payload, 'other.v1'), new Map([['paid.v1', origin]]))).toBe(true);
});
