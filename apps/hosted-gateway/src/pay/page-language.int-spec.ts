/** The language for a payer: of the page, of the state for its script, and after the redirect from the bank. */
import { randomUUID } from 'node:crypto';
import type { PassThrough } from 'node:stream';
import { waitUntil } from '@svc/testing';
import { aPayment, aSessionRequest, CODES_URL, type Gateway, type Merchant, startGateway } from '../../test/gateway.js';
import { SessionRepository } from '../sessions/session.repository.js';
import { StateStreams } from './state-streams.js';

let gateway: Gateway;
let merchant: Merchant;
beforeAll(async () => {
  gateway = await startGateway();
  merchant = await gateway.aMerchant();
});
afterAll(() => gateway.stop());

const ZULU = 'Inombolo yekhadi';
async function html(url: string, acceptLanguage?: string): Promise<string> {
  const headers = {
    accept: 'text/html',
    ...(acceptLanguage === undefined ? {} : { 'accept-language': acceptLanguage }),
  };
  return (await gateway.call('GET', url, { headers })).text;
}
const languageOf = (text: string): string | undefined => /<html lang="(..)" dir="ltr">/.exec(text)?.[1];
const press = (calls: string, query = '', headers: Record<string, string> = {}) =>
  gateway.call('POST', `${calls}/payments${query}`, {
    headers,
    payload: { reference: randomUUID(), try: 1, encryptedCard: 'a.b.c' },
  });
const declines = (): Promise<void> =>
  gateway.charges(({ payable, reference, try: tries }) => ({
    ok: true,
    reply: aPayment(payable, { reference, tries, state: 'failed', version: 3 }),
  }));

test('the session’s locale comes before the browser’s language, and the payer’s choice before both', async () => {
  const [plain, zulu] = [
    await gateway.createSession(merchant),
    await gateway.createSession(merchant, { locale: 'zu-ZA' }),
  ];
  expect(languageOf(await html(`/pay?sessionId=${plain}`))).toBe('en');
  expect(languageOf(await html(`/pay?sessionId=${plain}`, 'st-ZA,en;q=0.5'))).toBe('st');
  const text = await html(`/pay?sessionId=${zulu}`, 'af');
  expect([languageOf(text), text.includes(ZULU)]).toEqual(['zu', true]);
  expect(languageOf(await html(`/pay?sessionId=${zulu}&lang=xh`, 'af'))).toBe('xh');
  for (const noChoice of ['lang=de', 'lang=', 'lang[]=xh', 'lang=xh-ZA', 'language=xh'])
    expect(languageOf(await html(`/pay?sessionId=${zulu}&${noChoice}`))).toBe('zu');
});

test('without a supported locale the browser’s language is used', async () => {
  for (const locale of ['de-CH', null, undefined]) {
    const sessionId = await gateway.createSession(merchant, { locale });
    expect(languageOf(await html(`/pay?sessionId=${sessionId}`, 'af'))).toBe('af');
  }
});

test('an invalid locale is a 400 that names it', async () => {
  for (const locale of ['', 'zu_ZA', 'x'.repeat(36), 7]) {
    const { status, body } = await gateway.call('POST', '/api/v3.1/sessions', {
      headers: merchant.headers,
      payload: aSessionRequest({ locale }),
    });
    expect([status, body.errors]).toEqual([400, [{ message: expect.stringContaining('locale') }]]);
  }
});

test('a retry with another locale is the same session: replicas of an earlier release do not compare it', async () => {
  const request = aSessionRequest({ locale: 'zu' });
  const create = (payload: Record<string, unknown>) =>
    gateway.call('POST', '/api/v3.1/sessions', { headers: merchant.headers, payload });
  const { sessionId } = (await create(request)).body as { sessionId: string };
  for (const over of [{ locale: 'af' }, { locale: undefined }])
    expect((await create({ ...request, ...over })).body).toMatchObject({ sessionId });
  expect(languageOf(await html(`/pay?sessionId=${sessionId}`))).toBe('zu');
});

test('links to this page in the other languages, with only its own query', async () => {
  const sessionId = await gateway.createSession(merchant);
  const hrefs = async (query: string): Promise<(string | undefined)[]> =>
    [...(await html(`/pay?${query}`)).matchAll(/<a href="([^"]*)" lang="zu"/g)].map(([, href]) => href);
  expect(await hrefs(`sessionId=${sessionId}`)).toEqual([`?sessionId=${sessionId}&amp;lang=zu`]);
  expect(await hrefs(`card=another&lang=af&x=1&sessionId=${sessionId}`)).toEqual([
    `?sessionId=${sessionId}&amp;card=another&amp;lang=zu`,
  ]);
  expect(await hrefs('sessionId=javascript:alert(1)&card=%22%3E')).toEqual(['?lang=zu']);
});

test('the decline texts for the script are in the language of the page', async () => {
  await declines();
  const sessionId = await gateway.createSession(merchant, { locale: 'zu' });
  const calls = `/pay/${sessionId}`;
  const title = 'Ayikho imali eyanele kuleli khadi';
  expect((await press(calls)).body.decline).toMatchObject({ title, triesLeft: 'Kusele imizamo engu-4 kwengu-5.' });
  expect((await gateway.call('GET', `${calls}/state`)).body.decline).toMatchObject({ title });
  expect((await gateway.call('GET', `${calls}/state?lang=af`)).body.decline).toMatchObject({
    title: 'Daar is nie genoeg geld op hierdie kaart nie',
  });
  expect(await html(`/pay?sessionId=${sessionId}`)).toContain(title);
});

test('the stream uses that language, initially and after a change', async () => {
  await declines();
  const sessionId = await gateway.createSession(merchant);
  const watching = gateway.service.app.get(StateStreams);
  const out = (await watching.open({ sessionId }, { chosen: 'st', accepted: 'af', ownReferences: [] })) as PassThrough;
  let told = String(out.read());
  expect(told).toContain('"state":"open"');
  await press(`/pay/${sessionId}`);
  await waitUntil('the change', 5_000, async () => {
    await watching.tick();
    return (told += String(out.read() ?? '')).includes('"state":"declined"');
  });
  expect(told).toContain('Ha ho tjhelete e lekaneng kareteng ena');
  out.destroy();
});

test('error messages are in that language; in English they are from the error catalogue', async () => {
  const refuse = (code: 'card-key.not-in-use' | 'request.invalid'): Promise<void> =>
    gateway.charges(() => ({ ok: false, code, message: 'In English', fields: [] }));
  const sessionId = await gateway.createSession(merchant);
  const said = async (query: string, language: string): Promise<unknown> =>
    (await press(`/pay/${sessionId}`, query, { 'accept-language': language })).body.errors[0].message;
  await refuse('request.invalid');
  expect(await said('', 'en')).toBe('In English');
  expect(await said('', 'af')).toBe('Die betaling is nie aanvaar nie. Gaan jou besonderhede na en probeer weer.');
  expect(await said('?lang=zu', 'af')).toContain('Inkokhelo ayamukelwanga.');
  await refuse('card-key.not-in-use');
  expect(await said('', 'en')).toBe('This page is out of date. Reload it and try again. Nothing was charged.');
  expect(await said('?lang=xh', 'en')).toContain('Eli phepha liphelelwe lixesha.');
});

test('the bank redirects to the page in the language of its address', async () => {
  const returned: string[] = [];
  await gateway.charges(({ payable, reference, payerReturnUrl }) => {
    returned.push(payerReturnUrl);
    return { ok: true, reply: aPayment(payable, { reference, version: 3 }) };
  });
  const sessionId = await gateway.createSession(merchant);
  const [session] = await gateway.dataSource.query<{ code: string }[]>(
    `SELECT code FROM sessions WHERE session_id = $1`,
    [await gateway.createSession(merchant)],
  );
  await press(`/pay/${sessionId}`, '?lang=zu');
  await press(`/c/${session!.code}`, '?lang=af');
  expect(returned).toEqual([
    `https://pay.example/pay?sessionId=${sessionId}&lang=zu`,
    `${CODES_URL}/c/${session!.code}?lang=af`,
  ]);
});

test('pages without a session use the browser’s language, in an outage too', async () => {
  expect(await html(`/pay?sessionId=${randomUUID()}`, 'zu')).toContain('Leli khasi lokukhokha alikho');
  expect(await html(`/c/${'0'.repeat(20)}`, 'xh')).toContain('Le khowudi ayinakuhlawulwa apha');
  const sessionId = await gateway.createSession(merchant);
  const lost = Object.assign(new Error('Connection terminated'), { code: '57P01' });
  const find = jest.spyOn(gateway.service.app.get(SessionRepository), 'findByAddress').mockRejectedValue(lost);
  const outage = await html(`/pay?sessionId=${sessionId}&lang=st`, 'af');
  find.mockRestore();
  expect(outage).toContain('Leqephe lena ha le fumanehe hajwale');
  expect(outage).toContain(`href="?sessionId=${sessionId}&amp;lang=af"`);
});
