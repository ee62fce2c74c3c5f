import { randomUUID } from 'node:crypto';
import {
  AcceptInvitationV1,
  type CreatedInvitation,
  type InvitePerson,
  InvitePersonV1,
  ListPeopleV1,
  MAX_PEOPLE_MAILS_PER_DAY,
  ReadInvitationV1,
  ResetSecondFactorsV1,
  WithdrawInvitationV1,
} from '@svc/contracts';
import { PATIENCE, SmtpInbox, waitUntil } from '@svc/testing';
import { CONSOLE_URL } from '../../../test/identity.js';
import {
  actorOf,
  BROWSER,
  newEmail,
  newInvitation,
  PASSWORD,
  PeopleUnderTest,
  type TestPerson,
} from '../../../test/people.js';
import { cancelMail } from './mail.repository.js';
import { SendMails } from './send-mails.js';

const DAY_MS = 24 * 60 * 60_000;

let inbox: SmtpInbox;
let people: PeopleUnderTest;
let merchantId: number;
let owner: TestPerson;
/** Whether the SMTP server accepts recipients. */
let answer: 'accepts' | 'rejects' | 'is-unavailable';
/** Recipients that the server did not accept. */
let refusals = 0;
beforeAll(async () => {
  inbox = await SmtpInbox.start({
    onRcptTo: (_address, _session, callback) => {
      if (answer === 'accepts') return callback();
      refusals++;
      callback(Object.assign(new Error('no'), { responseCode: answer === 'rejects' ? 550 : 451 }));
    },
  });
  people = await PeopleUnderTest.start({
    env: { SVC_SMTP_URL: inbox.url, SVC_MAIL_FROM: 'payments@svc.example' },
  });
});
afterAll(async () => {
  await people.stop();
  await inbox[Symbol.asyncDispose]();
});
beforeEach(async () => {
  [answer, refusals] = ['accepts', 0];
  await people.identity.dataSource.query(`DELETE FROM mails`);
  merchantId = await people.newMerchant('Karoo & <Sons>');
  owner = await people.newPerson(merchantId, 'owner');
});

const runStep = () => people.identity.service.app.get(SendMails).runStep();
const invite = (email: string, changes: Partial<InvitePerson> = {}): Promise<CreatedInvitation> =>
  people.send(InvitePersonV1, {
    actor: actorOf(owner),
    merchantId,
    email,
    role: 'support',
    ...newInvitation(),
    ...changes,
  });
const stateOf = async (): Promise<string | undefined> => {
  const { invitations } = await people.send(ListPeopleV1, { actor: actorOf(owner), merchantId });
  return invitations[0]?.mail;
};
const readToken = (text: string): string => /\/invitations\/([\w-]{43})\b/.exec(text)![1]!;
const mailsTo = (email: string) => inbox.mails.filter(({ to }) => to.includes(email));

test('an invitation is a mail with a link that works, and the reply has no token', async () => {
  const siteId = await people.newSite(merchantId);
  const email = newEmail('support');
  const created = await invite(email, { siteId });
  expect(Object.keys(created)).toEqual(['invitationId', 'expiresUTCDate']);
  const mail = await inbox.waitForMail(email);
  const token = readToken(mail.text);
  const url = `${CONSOLE_URL}/invitations/${token}`;
  expect(mail).toMatchObject({ subject: 'Invitation to Karoo & <Sons>', to: [email], replyTo: [] });
  expect(mail.from).toEqual({ name: 'Svc Payments', address: 'payments@svc.example' });
  expect(mail.text.trim().split('\n\n')).toEqual([
    'Name of owner invites you to the payments of the site Shop of Karoo & <Sons>, as support.',
    'Open this link within 24 hours. It works once:',
    url,
    'If you do not expect this invitation, ignore this mail: without the link nothing happens.',
  ]);
  expect(mail.html).toContain('Karoo &amp; &lt;Sons&gt;');
  expect(mail.html).toContain(`<a href="${url}">`);
  expect(await people.send(ReadInvitationV1, { invitationToken: token })).toMatchObject({ email, siteId });
  await waitForState('sent');
  expect(await people.identity.dataSource.query(`SELECT state, sealed_mail FROM mails`)).toEqual([
    { state: 'sent', sealed_mail: null },
  ]);
});

test('the mail is in the language of the page', async () => {
  const email = newEmail('support');
  await invite(email, { language: 'af' });
  expect(await inbox.waitForMail(email)).toMatchObject({ subject: 'Uitnodiging na Karoo & <Sons>' });
});

test('a repeat of the form is one invitation with one mail', async () => {
  const [email, form] = [newEmail('support'), newInvitation()];
  const [first, second] = await Promise.all([invite(email, form), invite(email, form)]);
  expect(second).toEqual(first);
  const { text } = await inbox.waitForMail(email);
  while (await runStep());
  expect(mailsTo(email)).toHaveLength(1);
  await people.send(ReadInvitationV1, { invitationToken: readToken(text) });
});

test('the form is refused for another email, and after the invitation was withdrawn', async () => {
  const form = newInvitation();
  const email = newEmail('support');
  await invite(email, form);
  const request = { actor: actorOf(owner), merchantId, role: 'support', ...form } as const;
  expect((await people.refusal(InvitePersonV1, { ...request, email: newEmail('x') })).code).toBe('resource.conflict');
  await people.send(WithdrawInvitationV1, { actor: actorOf(owner), merchantId, invitationId: form.invitationId });
  expect((await people.refusal(InvitePersonV1, { ...request, email })).code).toBe('resource.conflict');
});

test('the content is stored encrypted, and not stored when the invitation is refused', async () => {
  answer = 'is-unavailable';
  const email = newEmail('support');
  await invite(email);
  const [{ sealed_mail: sealed }] = await people.identity.dataSource.query(`SELECT sealed_mail FROM mails`);
  expect(Buffer.from(sealed, 'base64url').toString()).not.toContain(email);
  const invalid = { actor: actorOf(owner), merchantId, role: 'support', ...newInvitation() } as const;
  expect((await people.refusal(InvitePersonV1, { ...invalid, email: owner.email })).code).toBe('resource.conflict');
  expect((await people.refusal(InvitePersonV1, { ...invalid, email: 'a@b' })).fields).toMatchObject([
    { field: 'email' },
  ]);
  expect(await people.identity.dataSource.query(`SELECT 1 FROM mails`)).toHaveLength(1);
});

test('the mail of an invitation to another place, of another email, and of another merchant is still sent', async () => {
  answer = 'is-unavailable';
  const siteId = await people.newSite(merchantId);
  const [email, otherEmail] = [newEmail('support'), newEmail('support')];
  await invite(email);
  await invite(email, { siteId });
  const { invitationId } = await invite(otherEmail);
  await invite(newEmail('support'));
  await attempted(4);
  await cancelMail(people.identity.dataSource.manager, await people.newMerchant(), invitationId);
  answer = 'accepts';
  people.identity.clock.advance(60_000);
  while (await runStep());
  expect([mailsTo(email).length, mailsTo(otherEmail).length]).toEqual([2, 1]);
});

test('a mail that was sent stays sent when its invitation is withdrawn', async () => {
  const email = newEmail('support');
  const { invitationId } = await invite(email);
  await inbox.waitForMail(email);
  await waitForState('sent');
  await people.send(WithdrawInvitationV1, { actor: actorOf(owner), merchantId, invitationId });
  expect(await people.identity.dataSource.query(`SELECT state FROM mails`)).toEqual([{ state: 'sent' }]);
});

describe('a mail that the server does not accept', () => {
  test('is attempted again after one minute, then after two, until it is accepted', async () => {
    answer = 'is-unavailable';
    const email = newEmail('support');
    await invite(email);
    await attempted(1);
    people.identity.clock.advance(59_000);
    expect(await runStep()).toBe(false);
    people.identity.clock.advance(1_000);
    await attempted(2);
    people.identity.clock.advance(119_000);
    expect(await runStep()).toBe(false);
    expect(await stateOf()).toBe('waiting');
    answer = 'accepts';
    people.identity.clock.advance(1_000);
    await runStep();
    await inbox.waitForMail(email);
    while (await runStep());
    expect(await stateOf()).toBe('sent');
  });

  test('because of its address is attempted once, and the list says so', async () => {
    answer = 'rejects';
    await invite(newEmail('support'));
    await attempted(1);
    await waitForState('rejected');
    people.identity.clock.advance(60 * 60_000);
    expect(await runStep()).toBe(false);
    expect(await stateOf()).toBe('rejected');
  });

  test.each([
    [
      'was withdrawn',
      async (invitationId: string) => {
        await people.send(WithdrawInvitationV1, { actor: actorOf(owner), merchantId, invitationId });
      },
    ],
    [
      'was replaced',
      async (_: string, email: string) => {
        answer = 'accepts';
        await invite(email, { role: 'finance' });
        await inbox.waitForMail(email);
      },
    ],
  ])('is not sent any more when its invitation %s', async (_, change) => {
    answer = 'is-unavailable';
    const [email, form] = [newEmail('support'), newInvitation()];
    await invite(email, form);
    await attempted(1);
    await change(form.invitationId, email);
    answer = 'accepts';
    people.identity.clock.advance(60_000);
    while (await runStep());
    const [{ state }] = await people.identity.dataSource.query(`SELECT state FROM mails WHERE mail_id = $1`, [
      form.invitationId,
    ]);
    expect(state).toBe('cancelled');
    expect(mailsTo(email).filter(({ text }) => text.includes('as support'))).toEqual([]);
  });

  test('is not sent any more after 24 hours', async () => {
    answer = 'is-unavailable';
    const email = newEmail('support');
    await invite(email);
    await attempted(1);
    answer = 'accepts';
    people.identity.clock.advance(DAY_MS);
    expect(await runStep()).toBe(false);
  });
});

test('the mail of an accepted invitation is not sent again', async () => {
  const email = newEmail('support');
  const { invitationId } = await invite(email);
  const { text } = await inbox.waitForMail(email);
  while (await runStep());
  // As if the process had ended before it recorded the result.
  const dataSource = people.identity.dataSource;
  await dataSource.query(`UPDATE mails SET state = 'waiting', sealed_mail = 'x', due_at = $2 WHERE mail_id = $1`, [
    invitationId,
    people.identity.clock.now(),
  ]);
  const accept = { browser: BROWSER, requestId: 'accept', name: 'Lindiwe', password: PASSWORD };
  await people.send(AcceptInvitationV1, { ...accept, invitationToken: readToken(text) });
  expect(await runStep()).toBe(false);
});

test('a person whose second factors were removed gets a mail, with a link to the sign-in', async () => {
  const person = await people.newPerson(merchantId, 'support');
  const { personId, email } = person;
  await people.send(ResetSecondFactorsV1, { actor: actorOf(owner), merchantId, personId, language: 'en' });
  const { subject, text } = await inbox.waitForMail(email);
  expect(subject).toBe('Your second factors were removed');
  expect(text.trim().split('\n\n')).toEqual([
    'At the request of Karoo & <Sons>, your authenticator app and your passkeys no longer open the console, and you are signed out everywhere.',
    'Sign in with your password, and set up a new second factor:',
    `${CONSOLE_URL}/sign-in`,
    'If you did not ask for this, tell an owner of the merchant at once.',
  ]);
});

test('a merchant causes at most 200 mails in 24 hours, and another merchant is not limited', async () => {
  const now = people.identity.clock.now();
  await people.identity.dataSource.query(
    `INSERT INTO mails SELECT gen_random_uuid(), $1, 'sent', NULL, 1, $2, $3 FROM generate_series(1, $4::int)`,
    [merchantId, now, new Date(now.getTime() + 60_000), MAX_PEOPLE_MAILS_PER_DAY],
  );
  const request = {
    actor: actorOf(owner),
    merchantId,
    email: newEmail('x'),
    role: 'support',
    ...newInvitation(),
  } as const;
  expect((await people.refusal(InvitePersonV1, request)).code).toBe('request.rate-limited');
  const otherMerchantId = await people.newMerchant();
  const other = await people.newPerson(otherMerchantId, 'owner');
  await people.send(InvitePersonV1, {
    ...request,
    invitationId: randomUUID(),
    actor: actorOf(other),
    merchantId: otherMerchantId,
  });
  people.identity.clock.advance(60_000);
  await people.send(InvitePersonV1, request);
});

/** Waits until the server has refused the recipient this number of times, so that no attempt is in progress. */
async function attempted(attempts: number): Promise<void> {
  await waitUntil('the attempt', 10_000 * PATIENCE, async () => {
    await runStep();
    return refusals === attempts;
  });
}

async function waitForState(state: string): Promise<void> {
  await waitUntil(`the state ${state}`, 10_000 * PATIENCE, async () => (await stateOf()) === state);
}
