import {
  BeginPasskeyRegistrationV1,
  BeginPasskeySignInV1,
  BeginSignInV1,
  BeginTotpV1,
  type CommandType,
  ConfirmPersonV1,
  EndPersonSessionV1,
  ERROR_CATALOGUE,
  type ErrorCode,
  FinishPasskeyRegistrationV1,
  FinishPasskeySignInV1,
  ListPersonSessionsV1,
  ListSecondFactorsV1,
  type PersonSession,
  type PersonSessionEntry,
  RemoveSecondFactorV1,
  type SecondFactorList,
} from '@svc/contracts';
import { createMerchant, startConsole, type TestConsole, type TestMerchant } from '../../test/console.js';

const TIME = '2026-03-01T08:00:00.000Z';
const PROOF = { challengeToken: 'c'.repeat(43), response: '{"id":"credential"}' };
const CHALLENGE = { options: { challenge: 'abc' }, challengeToken: 'c'.repeat(43) };

let app: TestConsole;
let merchant: TestMerchant;
let requests: { command: string; request: Record<string, unknown> }[];
beforeAll(async () => {
  app = await startConsole();
});
afterAll(() => app.stop());
beforeEach(async () => {
  requests = [];
  merchant = await createMerchant(app);
  await answer(ListSecondFactorsV1, factors());
  await answer(ListPersonSessionsV1, { sessions: [session({ current: true })] });
});

const answer = <Request, Reply>(type: CommandType<Request, Reply>, reply: NoInfer<Reply>, on = app) =>
  on.respondTo(type, (request) => {
    requests.push({ command: type.name, request: request as Record<string, unknown> });
    return { ok: true, reply };
  });
const refuse = <Request, Reply>(type: CommandType<Request, Reply>, code: ErrorCode, retryAfterSeconds?: number) =>
  app.respondTo(type, () => ({
    ok: false,
    code,
    message: ERROR_CATALOGUE[code].message,
    fields: [],
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  }));
const signIn = (changes: Partial<PersonSession> = {}) => app.signIn([merchant.grant('support')], changes);
const factors = (passkeys = 0): SecondFactorList => ({
  totp: { createdUTCDate: TIME },
  passkeys: Array.from({ length: passkeys }, (_, index) => ({
    passkeyId: `019ca8d7-25ab-777e-8b20-51e25d3ed4e${index}`,
    name: `Phone ${index}`,
    createdUTCDate: TIME,
    lastUsedUTCDate: '2026-03-01T09:30:00.000Z',
  })),
});
const session = (changes: Partial<PersonSessionEntry>): PersonSessionEntry => ({
  sessionId: '019ca8d7-25ab-777e-8b20-51e25d3ed4e5',
  startedUTCDate: TIME,
  expiresUTCDate: '2026-03-01T20:00:00.000Z',
  method: 'password',
  device: { name: 'Firefox · Android', address: '203.0.113.7' },
  current: false,
  ...changes,
});

describe('the page of the account', () => {
  test('shows the person, second factors and sessions, in the time of the merchant', async () => {
    await answer(ListSecondFactorsV1, factors(1));
    const other = session({ method: 'passkey', startedUTCDate: '2026-03-01T07:00:00.000Z' });
    const { device: _, ...unknown } = session({ method: 'link' });
    await answer(ListPersonSessionsV1, { sessions: [session({ current: true }), other, unknown] });
    const { status, text } = await signIn().get('/account');
    expect(status).toBe(200);
    expect(text).toContain('Name Lindiwe Dube E-mail lindiwe@example.com Language English Afrikaans');
    expect(text).toContain('Authenticator app Since 2026-03-01 10:00 Remove');
    expect(text).toContain('Passkey: Phone 0 Since 2026-03-01 10:00 Last used 2026-03-01 11:30 Remove');
    expect(text).toContain('Firefox · Android 203.0.113.7 Password 2026-03-01 10:00 This browser');
    expect(text).toContain('Firefox · Android 203.0.113.7 Passkey 2026-03-01 09:00 Sign out');
    expect(text).toContain('Unknown Unknown Link 2026-03-01 10:00 Sign out Sign out everywhere else');
  });

  test('offers neither the removal of the only second factor, nor the end of other sessions if there are none', async () => {
    const { text } = await signIn().get('/account');
    expect(text).toContain('This is your only second factor.');
    expect(text).not.toContain('Remove');
    expect(text).not.toContain('Sign out everywhere else');
  });

  test('of a person without a merchant is shown too', async () => {
    expect((await app.signIn([]).get('/account')).status).toBe(200);
  });

  test('the language returns to it', async () => {
    const { headers } = await signIn().get('/language/af?next=/account');
    expect([headers['location'], String(headers['set-cookie'])]).toEqual([
      '/account',
      expect.stringContaining('lang=af'),
    ]);
    expect((await signIn().get('/language/af?next=//evil.example')).headers['location']).toBe('/');
  });
});

describe('a session', () => {
  test('of the person is ended, one or all others', async () => {
    await answer(EndPersonSessionV1, { ended: 1 });
    const browser = signIn();
    for (const id of [session({}).sessionId, 'others'])
      expect((await browser.post('/account/sessions', { session: id })).headers['location']).toBe(
        '/account?done=sessions',
      );
    expect(requests.map(({ request }) => request['sessions'])).toEqual([session({}).sessionId, 'others']);
    // Signing out also deletes the cookie, and is another form.
    expect((await browser.post('/account/sessions', { session: 'current' })).status).toBe(404);
    expect(requests).toHaveLength(2);
  });

  test('that has ended already is no error', async () => {
    await refuse(EndPersonSessionV1, 'resource.not-found');
    expect((await signIn().post('/account/sessions', { session: 'x' })).status).toBe(303);
  });
});

describe('a second factor', () => {
  test('is removed', async () => {
    await answer(RemoveSecondFactorV1, { removed: true });
    const { headers } = await signIn().post('/account/second-factors/remove', { factor: 'totp' });
    expect(headers['location']).toBe('/account?done=removed');
    expect(requests).toMatchObject([{ command: 'remove-second-factor.v1', request: { factor: 'totp' } }]);
  });

  test('that is the last one is kept, with a reason', async () => {
    await refuse(RemoveSecondFactorV1, 'resource.conflict');
    const { status, text } = await signIn().post('/account/second-factors/remove', { factor: 'totp' });
    expect([status, text.includes('Add another one before you remove it.')]).toEqual([409, true]);
  });

  test('is removed only after a confirmation, which returns to the account', async () => {
    await refuse(RemoveSecondFactorV1, 'authentication.required');
    const form = { factor: 'totp' };
    const { headers } = await signIn().post('/account/second-factors/remove', form, {
      referer: 'http://localhost:7307/account',
    });
    expect(headers['location']).toBe('/account/confirm?next=%2Faccount');
  });
});

describe('the confirmation', () => {
  const confirm = { next: '/1001/test/team?x=1', password: 'a long password', code: '123 456' };

  test('asks for the second factors that the person has', async () => {
    const page = async (secondFactors: PersonSession['secondFactors']) => {
      const { html, text } = await signIn({ secondFactors }).get('/account/confirm?next=/1001/test/team');
      expect(text).toContain('For your safety, confirm that it is you. Then press the button again.');
      return { hasPassword: html.includes('name="password"'), hasPasskey: html.includes('data-use="get"') };
    };
    expect(await page(['totp'])).toEqual({ hasPassword: true, hasPasskey: false });
    expect(await page(['passkey'])).toEqual({ hasPassword: false, hasPasskey: true });
    expect(await page(['totp', 'passkey'])).toEqual({ hasPassword: true, hasPasskey: true });
  });

  test('with password and code returns to the page', async () => {
    await answer(ConfirmPersonV1, { authenticatedUTCDate: TIME });
    const { status, headers } = await signIn().post('/account/confirm', confirm);
    expect([status, headers['location']]).toEqual([303, '/1001/test/team?x=1']);
    expect(requests.map(({ request: { actor: _, ...rest } }) => rest)).toEqual([
      { address: '127.0.0.1', password: 'a long password', code: '123456' },
    ]);
  });

  test('with a passkey returns to the page', async () => {
    await answer(ConfirmPersonV1, { authenticatedUTCDate: TIME });
    const { headers } = await signIn().post('/account/confirm', { ...PROOF, next: '/account' });
    expect(headers['location']).toBe('/account');
    expect(requests[0]!.request).toMatchObject({
      passkey: { challengeToken: PROOF.challengeToken, response: { id: 'credential' } },
    });
  });

  test('never returns to another host', async () => {
    await answer(ConfirmPersonV1, { authenticatedUTCDate: TIME });
    const { headers } = await signIn().post('/account/confirm', { ...confirm, next: '//evil.example' });
    expect(headers['location']).toBe('/');
    expect((await signIn().get('/account/confirm?next=//evil.example')).html).toContain('name="next" value="/"');
  });

  test.each<[ErrorCode, number, string]>([
    ['authentication.failed', 401, 'The password or the code is wrong'],
    ['request.rate-limited', 429, 'Wait 30 minutes'],
  ])('that is refused with %s is explained', async (code, status, problem) => {
    await refuse(ConfirmPersonV1, code, 1800);
    const page = await signIn().post('/account/confirm', confirm);
    expect([page.status, page.text.includes(problem)]).toEqual([status, true]);
    expect(page.html).toContain('name="next" value="/1001/test/team?x=1"');
    expect(page.html).not.toContain('a long password');
  });

  test('is effective for the next page', async () => {
    await answer(ConfirmPersonV1, { authenticatedUTCDate: TIME });
    const browser = signIn({ authenticatedUTCDate: '2026-03-01T09:00:00.000Z' });
    await browser.get('/account');
    Object.assign(browser.person, { name: 'Read again' });
    expect((await browser.get('/account')).text).not.toContain('Read again');
    await browser.post('/account/confirm', confirm);
    expect((await browser.get('/account')).text).toContain('Read again');
  });
});

describe('a passkey', () => {
  test('is requested by the script, and starts a session', async () => {
    await answer(BeginPasskeySignInV1, CHALLENGE);
    await answer(FinishPasskeySignInV1, {
      sessionToken: 's'.repeat(43),
      expiresUTCDate: '2036-03-01T20:00:00.000Z',
      setUpRequired: false,
    });
    const browser = app.anonymous();
    const challenge = await browser.post('/sign-in/passkey/challenge');
    expect([challenge.status, JSON.parse(challenge.html)]).toEqual([200, CHALLENGE]);
    const userAgent = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0' };
    const { headers } = await browser.post('/sign-in/passkey', { ...PROOF, next: '/account' }, userAgent);
    expect([headers['location'], String(headers['set-cookie'])]).toEqual([
      '/account',
      expect.stringContaining('s'.repeat(43)),
    ]);
    expect(requests.at(-1)!.request).toEqual({
      challengeToken: PROOF.challengeToken,
      response: { id: 'credential' },
      browser: expect.stringMatching(/^[0-9a-f]{64}$/),
      device: { name: 'Firefox · Linux', address: '127.0.0.1' },
    });
  });

  test.each<[string, ErrorCode, object]>([
    ['that is unknown', 'authentication.failed', PROOF],
    ['whose challenge has expired', 'resource.not-found', PROOF],
    ['without an answer', 'authentication.failed', {}],
  ])('%s does not sign in, and the page says so', async (_, code, proof) => {
    await refuse(FinishPasskeySignInV1, code);
    const { status, text, headers } = await app.anonymous().post('/sign-in/passkey', { ...proof });
    expect([status, text.includes('The passkey did not work.')]).toEqual([401, true]);
    expect(headers['set-cookie']).toBeUndefined();
  });

  test('is registered with a name; as the first second factor it opens the console', async () => {
    await answer(BeginPasskeyRegistrationV1, CHALLENGE);
    await answer(FinishPasskeyRegistrationV1, { passkeyId: '019ca8d7-25ab-777e-8b20-51e25d3ed4e3' });
    const [first, further] = [signIn({ setUpRequired: true, secondFactors: [] }), signIn()];
    const challenge = await first.post('/account/passkeys/challenge');
    expect(JSON.parse(challenge.html)).toEqual(CHALLENGE);
    const locations = [
      await first.post('/account/passkeys', { ...PROOF, name: 'My phone' }),
      await further.post('/account/passkeys', PROOF),
    ].map(({ headers }) => headers['location']);
    expect(locations).toEqual(['/', '/account?done=passkey']);
    expect(requests.slice(-2).map(({ request }) => request['name'])).toEqual(['My phone', 'Passkey']);
  });

  test('that cannot be registered leads back to the set-up', async () => {
    await refuse(FinishPasskeyRegistrationV1, 'authentication.failed');
    await answer(BeginTotpV1, { secret: 'JBSWY3DPEHPK3PXP', uri: 'otpauth://totp/x' });
    const { status, text } = await signIn({ setUpRequired: true }).post('/account/passkeys', PROOF);
    expect([status, text.includes('The passkey did not work.')]).toEqual([422, true]);
    expect(text).toContain('JBSW Y3DP');
  });

  test('is asked for after the password of a person without an authenticator app', async () => {
    await answer(BeginSignInV1, { signInToken: 't'.repeat(43), secondFactors: ['passkey'] });
    const form = { email: 'thandi@example.com', password: 'a long password' };
    const { status, text } = await app.anonymous().post('/sign-in', form);
    expect([status, text.includes('Your account has no authenticator app.')]).toEqual([401, true]);
  });

  test('is offered at a host name only, because browsers have none for an IP address', async () => {
    const atAddress = await startConsole('http://127.0.0.1:7307');
    await answer(BeginTotpV1, { secret: 'JBSWY3DPEHPK3PXP', uri: 'otpauth://totp/x' }, atAddress);
    try {
      expect((await app.anonymous().get('/sign-in')).html).toContain('data-passkeys="http://localhost:7307"');
      const setUp = atAddress.signIn([], { setUpRequired: true });
      for (const page of [await atAddress.anonymous().get('/sign-in'), await setUp.get('/account/second-factor')])
        expect([page.status, page.html.includes('data-passkeys')]).toEqual([200, false]);
    } finally {
      await atAddress.stop();
    }
  });
});
