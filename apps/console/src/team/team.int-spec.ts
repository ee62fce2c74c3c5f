import { randomUUID } from 'node:crypto';
import {
  ChangeRoleV1,
  type CommandType,
  InvitePersonV1,
  ListPeopleV1,
  type PeopleList,
  RemovePersonV1,
  ResetSecondFactorsV1,
  WithdrawInvitationV1,
} from '@svc/contracts';
import { ERROR_CATALOGUE, type ErrorCode } from '@svc/contracts';
import { type Browser, createMerchant, startConsole, type TestConsole, type TestMerchant } from '../../test/console.js';

const NOW = { authenticatedUTCDate: '2026-03-01T09:59:00.000Z' };
const LONG_AGO = { authenticatedUTCDate: '2026-03-01T09:50:00.000Z' };
const PERSON_ID = '019ca8d7-25ab-777e-8b20-51e25d3ed4e3';
const INVITATION_ID = '019ca8d7-25ab-777e-8b20-51e25d3ed4e4';

let app: TestConsole;
let merchant: TestMerchant;
let owner: Browser;
/** The requests that identity got, with the name of their command. */
let requests: { command: string; request: Record<string, unknown> }[];
beforeAll(async () => {
  app = await startConsole();
});
afterAll(() => app.stop());
beforeEach(async () => {
  requests = [];
  merchant = await createMerchant(app);
  owner = app.signIn([merchant.grant('owner')], NOW);
  await answer(ListPeopleV1, listOf());
  await answer(InvitePersonV1, { invitationId: INVITATION_ID, expiresUTCDate: '2026-03-02T10:00:00.000Z' });
  await answer(WithdrawInvitationV1, { withdrawn: true });
  await answer(ChangeRoleV1, { changed: true });
  await answer(RemovePersonV1, { removed: true });
  await answer(ResetSecondFactorsV1, { reset: true });
});

const listOf = (): PeopleList => ({
  people: [
    {
      personId: PERSON_ID,
      name: 'Thandi <Nkosi>',
      email: 'thandi@karoo.example',
      roles: [merchant.grant('owner'), merchant.grant('finance', merchant.sites[1])],
      secondFactors: ['totp', 'passkey'],
      lastSignInUTCDate: '2026-03-01T08:00:00.000Z',
    },
  ],
  invitations: [
    {
      invitationId: INVITATION_ID,
      email: 'new@karoo.example',
      siteId: merchant.sites[0],
      role: 'support',
      createdUTCDate: '2026-03-01T09:00:00.000Z',
      expiresUTCDate: '2026-03-02T09:00:00.000Z',
      mail: 'rejected',
    },
  ],
});
const answer = <Request, Reply>(type: CommandType<Request, Reply>, reply: NoInfer<Reply>) =>
  app.respondTo(type, (request) => {
    requests.push({ command: type.name, request: request as Record<string, unknown> });
    return { ok: true, reply };
  });
const refuse = <Request, Reply>(type: CommandType<Request, Reply>, code: ErrorCode) =>
  app.respondTo(type, () => ({
    ok: false,
    code,
    message: ERROR_CATALOGUE[code].message,
    fields: [],
  }));
const path = (rest = '') => `/${merchant.merchantId}/test/team${rest}`;
/** The changes that identity got. */
const changes = () =>
  requests.filter(({ command }) => command !== ListPeopleV1.name).map(({ command, request }) => [command, request]);
const ACTOR = { sessionHash: expect.any(String), browser: expect.any(String), requestId: expect.any(String) };
const invitation = (more: Record<string, string> = {}) => ({
  key: INVITATION_ID,
  email: 'new@karoo.example',
  role: 'support',
  ...more,
});

test('the page lists people with roles and sites, and open invitations with the state of their mail', async () => {
  const { status, text } = await owner.get(path());
  expect(status).toBe(200);
  expect(text).toContain(
    'Thandi &lt;Nkosi> thandi@karoo.example owner: All sites finance: Shop 2 App, Passkey 2026-03-01 10:00',
  );
  expect(text).toContain(
    'new@karoo.example support: Shop 1 Until 2026-03-02 11:00 The mail could not be delivered. Check the address and invite again. Withdraw',
  );
  expect(requests).toEqual([
    { command: 'list-people.v1', request: { actor: expect.anything(), merchantId: merchant.merchantId } },
  ]);
});

test('without invitations the page says so', async () => {
  await answer(ListPeopleV1, { ...listOf(), invitations: [] });
  expect((await owner.get(path())).text).toContain('No invitation is open.');
});

test('the owner of a site sees and invites people of this site only', async () => {
  const [mine, other] = merchant.sites;
  const siteOwner = app.signIn([merchant.grant('owner', mine)], NOW);
  const { html } = await siteOwner.get(path());
  expect(requests.map(({ request }) => request)).toEqual([
    { actor: expect.anything(), merchantId: merchant.merchantId, siteId: mine },
  ]);
  expect(html).toContain(`<option value="${mine}">Shop 1</option>`);
  expect(html).not.toContain(`<option value="${other}">`);
  expect(html).not.toContain('<option value="">');
  requests = [];
  for (const place of ['', String(other), '1'])
    expect((await siteOwner.post(path('/invitations'), invitation({ place }))).status).toBe(404);
  expect((await siteOwner.post(path(`/${PERSON_ID}/reset`))).status).toBe(404);
  expect(changes()).toEqual([]);
  await siteOwner.post(path('/invitations'), invitation({ place: String(mine) }));
  expect(changes()).toMatchObject([['invite-person.v1', { siteId: mine }]]);
});

test('an invitation is a command with the key of the form and the language of the page', async () => {
  const { status, headers } = await owner.post(path('/invitations'), invitation(), { cookie: '' });
  expect(status).toBe(303);
  expect(headers['location']).toBe('/sign-in');
  const sent = await owner.post(path('/invitations'), invitation({ place: String(merchant.sites[1]) }), {
    'accept-language': 'af',
  });
  expect([sent.status, sent.headers['location']]).toEqual([303, path('?done=invited')]);
  expect(changes()).toEqual([
    [
      'invite-person.v1',
      {
        actor: ACTOR,
        merchantId: merchant.merchantId,
        siteId: merchant.sites[1],
        invitationId: INVITATION_ID,
        email: 'new@karoo.example',
        role: 'support',
        language: 'af',
      },
    ],
  ]);
  expect((await owner.get(path('?done=invited'))).text).toContain('The invitation is on its way.');
});

test('each form has a new key', async () => {
  const keys = [await owner.get(path()), await owner.get(path())].map(
    ({ html }) => /name="key" value="([^"]+)"/.exec(html)![1],
  );
  expect(keys[0]).not.toBe(keys[1]);
});

test('the link is shown only if the platform sends no mails', async () => {
  const token = 'x'.repeat(43);
  await answer(InvitePersonV1, {
    invitationId: INVITATION_ID,
    invitationToken: token,
    expiresUTCDate: '2026-03-02T10:00:00.000Z',
  });
  const { status, text, headers } = await owner.post(path('/invitations'), invitation());
  expect([status, headers['cache-control']]).toEqual([201, 'no-store']);
  expect(text).toContain(`http://localhost:7307/invitations/${token}`);
});

test.each<[ErrorCode, number, string]>([
  ['request.invalid', 422, 'Enter an e-mail address'],
  ['resource.conflict', 409, 'has a role there already'],
  ['request.rate-limited', 429, 'too many mails today'],
])('an invitation that is refused with %s keeps what was typed', async (code, expected, problem) => {
  await refuse(InvitePersonV1, code);
  const { status, text, html } = await owner.post(path('/invitations'), invitation({ role: 'finance' }));
  expect(status).toBe(expected);
  expect(text).toContain(problem);
  expect(html).toContain('value="new@karoo.example"');
  expect(html).toContain('<option value="finance" selected');
});

test.each<[string, Record<string, string>]>([
  ['email', { email: '' }],
  ['role', { role: 'admin' }],
  ['key', { key: 'x' }],
])('an invitation without a valid %s is refused without a command', async (_, invalid) => {
  expect((await owner.post(path('/invitations'), invitation(invalid))).status).toBe(422);
  expect(changes()).toEqual([]);
});

test('the page of a person has a form for each role; a person who is not in the list does not exist', async () => {
  const { status, text } = await owner.get(path(`/${PERSON_ID}`));
  expect(status).toBe(200);
  expect(text).toContain('Role: All sites');
  expect(text).toContain('Role: Shop 2');
  expect(text).toContain('Remove from Shop 2');
  expect(text).toContain('Remove the second factors');
  expect((await owner.get(path(`/${randomUUID()}`))).status).toBe(404);
});

test('the own page offers no reset of second factors', async () => {
  const self = app.signIn([merchant.grant('owner')], { ...NOW, personId: PERSON_ID });
  expect((await self.get(path(`/${PERSON_ID}`))).text).not.toContain('Remove the second factors');
});

test('role, removal, reset and withdrawal are commands for exactly the place of the form', async () => {
  const { merchantId } = merchant;
  const [siteId] = merchant.sites;
  const forms: [string, Record<string, string>, string][] = [
    [`/${PERSON_ID}/role`, { role: 'developer' }, 'changed'],
    [`/${PERSON_ID}/role`, { role: 'owner', place: String(siteId) }, 'changed'],
    [`/${PERSON_ID}/remove`, { place: String(siteId) }, 'removed'],
    [`/${PERSON_ID}/remove`, {}, 'removed'],
    [`/${PERSON_ID}/reset`, {}, 'reset'],
    [`/invitations/${INVITATION_ID}/withdraw`, { place: String(siteId) }, 'withdrawn'],
  ];
  for (const [rest, form, done] of forms) {
    const { status, headers } = await owner.post(path(rest), form);
    expect([status, headers['location']]).toEqual([303, path(`?done=${done}`)]);
  }
  const personId = PERSON_ID;
  expect(changes()).toEqual([
    ['change-role.v1', { actor: ACTOR, merchantId, personId, role: 'developer' }],
    ['change-role.v1', { actor: ACTOR, merchantId, siteId, personId, role: 'owner' }],
    ['remove-person.v1', { actor: ACTOR, merchantId, siteId, personId }],
    ['remove-person.v1', { actor: ACTOR, merchantId, personId }],
    ['reset-second-factors.v1', { actor: ACTOR, merchantId, personId, language: 'en' }],
    ['withdraw-invitation.v1', { actor: ACTOR, merchantId, siteId, invitationId: INVITATION_ID }],
  ]);
});

test.each<[string, () => Promise<void>, string]>([
  ['role', () => refuse(ChangeRoleV1, 'resource.conflict'), 'This is the last owner.'],
  ['remove', () => refuse(RemovePersonV1, 'resource.conflict'), 'This is the last owner.'],
  ['reset', () => refuse(ResetSecondFactorsV1, 'resource.conflict'), 'Ask the platform.'],
])('a refused %s is explained beside the form', async (action, refuseCommand, problem) => {
  await refuseCommand();
  const { status, text } = await owner.post(path(`/${PERSON_ID}/${action}`), { role: 'support' });
  expect([status, text.includes(problem)]).toEqual([409, true]);
});

test('an own role that was given up leads to the start page', async () => {
  const self = app.signIn([merchant.grant('owner')], { ...NOW, personId: PERSON_ID });
  expect((await self.post(path(`/${PERSON_ID}/role`), { role: 'support' })).headers['location']).toBe('/');
});

test('every change needs a confirmation of the last ten minutes, and returns to the page of the form', async () => {
  const late = app.signIn([merchant.grant('owner')], LONG_AGO);
  const referer = `http://localhost:7307${path()}`;
  for (const rest of [
    '/invitations',
    `/invitations/${INVITATION_ID}/withdraw`,
    `/${PERSON_ID}/role`,
    `/${PERSON_ID}/remove`,
    `/${PERSON_ID}/reset`,
  ]) {
    const { status, headers } = await late.post(path(rest), invitation(), { referer });
    expect([status, headers['location']]).toEqual([303, `/account/confirm?next=${encodeURIComponent(path())}`]);
  }
  expect(changes()).toEqual([]);
  expect((await late.get(path())).status).toBe(200);
});
