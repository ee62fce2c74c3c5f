import {
  BeginPasskeySignInV1,
  BeginSignInV1,
  INVITATION_MS,
  PASSKEY_CHALLENGE_MS,
  PASSWORD_CLOSED_MS,
  SESSION_MS,
  SIGN_IN_MS,
} from '@svc/contracts';
import { ADDRESS, newEmail, PeopleUnderTest } from '../../../test/people.js';
import { DeleteExpiredPeopleData } from './delete-expired.js';

let people: PeopleUnderTest;
beforeAll(async () => {
  people = await PeopleUnderTest.start();
});
afterAll(() => people.stop());

test('rows are deleted when they expire, and no earlier', async () => {
  const merchantId = await people.newMerchant();
  const owner = await people.newPerson(merchantId, 'owner');
  await people.identity.dataSource.query(`DELETE FROM person_sessions`);
  await people.signIn(owner);
  people.identity.clock.jump(-30_000);
  await people.beginSignIn(owner.email);
  await people.send(BeginPasskeySignInV1, { address: ADDRESS });
  await people.inviteByAdministrator(merchantId, newEmail('support'), 'support');
  await people.admin('POST', '/admin/v1/operators', { email: newEmail('viewer'), role: 'viewer' });
  await people.refusal(BeginSignInV1, { email: owner.email, password: 'wrong horse battery', address: ADDRESS });
  await people.identity.dataSource.query(
    `INSERT INTO mails VALUES (gen_random_uuid(), $1, 'sent', NULL, 1, $2, $2::timestamptz + interval '24 hours')`,
    [merchantId, people.identity.clock.now()],
  );
  const start = people.identity.clock.now().getTime();

  const job = people.identity.service.app.get(DeleteExpiredPeopleData);
  const countAfter = async (ms: number): Promise<Record<string, number>> => {
    people.identity.clock.jump(start + ms - people.identity.clock.now().getTime());
    expect(await job.runStep()).toBe(false);
    const [counts] = await people.identity.dataSource.query(
      `SELECT (SELECT count(*) FROM sign_in_tokens) AS tokens, (SELECT count(*) FROM passkey_challenges) AS challenges,
              (SELECT count(*) FROM sign_in_failures) AS failures, (SELECT count(*) FROM person_sessions) AS sessions,
              (SELECT count(*) FROM invitations) AS invitations, (SELECT count(*) FROM operator_invitations) AS operators, (SELECT count(*) FROM mails) AS mails`,
    );
    return counts;
  };
  // A failure is counted for the email and for the address.
  const all = { tokens: 1, challenges: 1, failures: 2, sessions: 1, invitations: 1, operators: 1, mails: 1 };
  expect(SIGN_IN_MS).toBe(PASSKEY_CHALLENGE_MS);
  expect(await countAfter(SIGN_IN_MS - 1)).toEqual(all);
  expect(await countAfter(SIGN_IN_MS)).toEqual({ ...all, tokens: 0, challenges: 0 });
  const later = { ...all, tokens: 0, challenges: 0 };
  expect(await countAfter(2 * PASSWORD_CLOSED_MS - 1)).toEqual(later);
  expect(await countAfter(2 * PASSWORD_CLOSED_MS)).toEqual({ ...later, failures: 0 });
  expect(await countAfter(SESSION_MS - 1)).toEqual({ ...later, failures: 0 });
  expect(await countAfter(SESSION_MS)).toEqual({ ...later, failures: 0, sessions: 0 });
  expect(await countAfter(INVITATION_MS - 1)).toEqual({ ...later, failures: 0, sessions: 0 });
  expect(await countAfter(INVITATION_MS)).toEqual({
    ...later,
    failures: 0,
    sessions: 0,
    invitations: 0,
    operators: 0,
    mails: 0,
  });
  expect(await people.identity.dataSource.query(`SELECT count(*) AS people FROM people`)).toEqual([{ people: 1 }]);
});
