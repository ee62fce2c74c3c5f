import { toOrganisationView } from './organisation.js';

test('toOrganisationView returns the name of an organisation, and its date with milliseconds (C2)', () => {
  const organisation = { organisationId: 'o-1', name: 'Partner' };
  expect(toOrganisationView({ ...organisation, createdAt: new Date('2026-03-01T10:00:00Z') })).toStrictEqual({
    ...organisation,
    createdUTCDate: '2026-03-01T10:00:00.000Z',
  });
});
