import type { PeopleList, PersonEntry } from '@svc/contracts';
import { mergePeople, parsePlace, parseRole } from './team.js';

const SITES = [
  { siteId: 5001, name: 'Shop 1' },
  { siteId: 5002, name: 'Shop 2' },
];

const person = (personId: string, name: string, siteId: number): PersonEntry => ({
  personId,
  name,
  email: `${personId}@karoo.example`,
  roles: [{ merchantId: 1001, siteId, role: 'support' }],
  secondFactors: [],
});
const invitation = (invitationId: string, createdUTCDate: string) => ({
  invitationId,
  email: 'a@karoo.example',
  role: 'support' as const,
  createdUTCDate,
  expiresUTCDate: createdUTCDate,
});

test('lists of several sites are one list, with the roles of each person, by name; the newest invitation is first', () => {
  const lists: PeopleList[] = [
    {
      people: [person('z', 'Zanele', 5001), person('b', 'Bongani', 5001)],
      invitations: [invitation('1', '2026-01-01')],
    },
    {
      people: [person('a', 'Ayanda', 5002), person('z', 'Zanele', 5002)],
      invitations: [invitation('2', '2026-01-02')],
    },
  ];
  const { people, invitations } = mergePeople(lists);
  expect(people.map(({ name, roles }) => [name, roles.map(({ siteId }) => siteId)])).toEqual([
    ['Ayanda', [5002]],
    ['Bongani', [5001]],
    ['Zanele', [5001, 5002]],
  ]);
  expect(invitations.map(({ invitationId }) => invitationId)).toEqual(['2', '1']);
});

test.each<[string | undefined, 'all' | number[], object | undefined]>([
  [undefined, 'all', { siteId: undefined }],
  ['5001', 'all', { siteId: 5001 }],
  ['5002', [5002], { siteId: 5002 }],
  [undefined, [5002], undefined],
  ['5001', [5002], undefined],
  ['5003', 'all', undefined],
  ['5003', [5003], undefined],
  ['05001', 'all', undefined],
  ['x', 'all', undefined],
])('the place %s of a person who manages %j is %j', (text, sites, place) => {
  expect(parsePlace(text, sites, SITES)).toEqual(place);
});

test('a role is one of the known roles', () => {
  expect(['owner', 'finance', 'support', 'developer', 'admin', '', undefined].map(parseRole)).toEqual([
    'owner',
    'finance',
    'support',
    'developer',
    undefined,
    undefined,
    undefined,
  ]);
});
