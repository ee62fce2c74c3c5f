/** The language of the page, of the state that its script polls, and of the page after the redirect from the bank. */
import { randomUUID } from 'node:crypto';
import type { PassThrough } from 'node:stream';
import { waitUntil } from '@svc/testing';
import {
  buildPayment,
  buildSessionRequest,
  CODES_URL,
  type Gateway,
  type Merchant,
  startGateway,
} from '../../test/gateway.js';
import { SessionRepository } from '../sessions/session.repository.js';
import { StateStreams } from './state-streams.js';

let gateway: Gateway;
let merchant: Merchant;
beforeAll(async () => {
  gateway = await startGateway();
  merchant = await gateway.createMerchant();
});
afterAll(() => gateway.stop());

const ZULU_CARD_NUMBER_LABEL = 'Inombolo yekhadi';
async function getHtml(url: string, acceptLanguage?: string): Promise<string> {
  const headers = {
    accept: 'text/html',
    ...(acceptLanguage === undefined ? {} : { 'accept-language': acceptLanguage }),
  };
  return (await gateway.call('GET', url, { headers })).text;
}
const pageLanguage = (text: string): string | undefined => /<html lang="(..)" dir="ltr">/.exec(text)?.[1];
const pay = (callsPath: string, query = '', headers: Record<string, string> = {}) =>
  gateway.call('POST', `${callsPath}/payments${query}`, {
    headers,
    payload: { reference: randomUUID(), paymentNumber: 1, encryptedCard: 'a.b.c' },
  });
const declineAllCharges = (): Promise<void> =>
  gateway.respondToCharges(({ payable, reference, paymentNumber }) => ({
    ok: true,
    reply: buildPayment(payable, { reference, paymentCount: paymentNumber, state: 'failed', version: 3 }),
  }));

test('the page uses the language that the payer chose, else the session’s locale, else the browser’s language', async () => {
  const [withoutLocale, zulu] = [
    await gateway.createSession(merchant),
    await gateway.createSession(merchant, { locale: 'zu-ZA' }),
  ];
  expect(pageLanguage(await getHtml(`/pay?sessionId=${withoutLocale}`))).toBe('en');
  expect(pageLanguage(await getHtml(`/pay?sessionId=${withoutLocale}`, 'st-ZA,en;q=0.5'))).toBe('st');
  const text = await getHtml(`/pay?sessionId=${zulu}`, 'af');
  expect([pageLanguage(text), text.includes(ZULU_CARD_NUMBER_LABEL)]).toEqual(['zu', true]);
  expect(pageLanguage(await getHtml(`/pay?sessionId=${zulu}&lang=xh`, 'af'))).toBe('xh');
  for (const invalidChoice of ['lang=de', 'lang=', 'lang[]=xh', 'lang=xh-ZA', 'language=xh'])
    expect(pageLanguage(await getHtml(`/pay?sessionId=${zulu}&${invalidChoice}`))).toBe('zu');
});

test('the page uses the browser’s language if the session has no locale or an unsupported locale', async () => {
  for (const locale of ['de-CH', null, undefined]) {
    const sessionId = await gateway.createSession(merchant, { locale });
    expect(pageLanguage(await getHtml(`/pay?sessionId=${sessionId}`, 'af'))).toBe('af');
  }
});

test('a request with an invalid locale is rejected with 400 and an error that names the field', async () => {
  for (const locale of ['', 'zu_ZA', 'x'.repeat(36), 7]) {
    const { status, body } = await gateway.call('POST', '/api/v3.1/sessions', {
      headers: merchant.headers,
      payload: buildSessionRequest({ locale }),
    });
    expect([status, body.errors]).toEqual([400, [{ message: expect.stringContaining('locale') }]]);
  }
});

test('a retry with another locale returns the same session, whose page keeps its first locale (H7)', async () => {
  const request = buildSessionRequest({ locale: 'zu' });
  const create = (payload: Record<string, unknown>) =>
    gateway.call('POST', '/api/v3.1/sessions', { headers: merchant.headers, payload });
  const { sessionId } = (await create(request)).body as { sessionId: string };
  for (const change of [{ locale: 'af' }, { locale: undefined }])
    expect((await create({ ...request, ...change })).body).toMatchObject({ sessionId });
  expect(pageLanguage(await getHtml(`/pay?sessionId=${sessionId}`))).toBe('zu');
});

test('links to the page in other languages contain only the supported query parameters', async () => {
  const sessionId = await gateway.createSession(merchant);
  const zuluLinks = async (query: string): Promise<(string | undefined)[]> =>
    [...(await getHtml(`/pay?${query}`)).matchAll(/<a href="([^"]*)" lang="zu"/g)].map(([, href]) => href);
  expect(await zuluLinks(`sessionId=${sessionId}`)).toEqual([`?sessionId=${sessionId}&amp;lang=zu`]);
  expect(await zuluLinks(`card=another&lang=af&x=1&sessionId=${sessionId}`)).toEqual([
    `?sessionId=${sessionId}&amp;card=another&amp;lang=zu`,
  ]);
  expect(await zuluLinks('sessionId=javascript:alert(1)&card=%22%3E')).toEqual(['?lang=zu']);
});

test('the decline texts that the script gets are in the language of the page', async () => {
  await declineAllCharges();
  const sessionId = await gateway.createSession(merchant, { locale: 'zu' });
  const callsPath = `/pay/${sessionId}`;
  const title = 'Ayikho imali eyanele kuleli khadi';
  expect((await pay(callsPath)).body.decline).toMatchObject({ title, paymentsLeft: 'Kusele imizamo engu-4 kwengu-5.' });
  expect((await gateway.call('GET', `${callsPath}/state`)).body.decline).toMatchObject({ title });
  expect((await gateway.call('GET', `${callsPath}/state?lang=af`)).body.decline).toMatchObject({
    title: 'Daar is nie genoeg geld op hierdie kaart nie',
  });
  expect(await getHtml(`/pay?sessionId=${sessionId}`)).toContain(title);
});

test('the event stream sends the initial state and changes in the language of the page', async () => {
  await declineAllCharges();
  const sessionId = await gateway.createSession(merchant);
  const stateStreams = gateway.service.app.get(StateStreams);
  const out = (await stateStreams.open(
    { sessionId },
    { chosen: 'st', accepted: 'af', ownReferences: [] },
    '::1',
  )) as PassThrough;
  let received = String(out.read());
  expect(received).toContain('"state":"open"');
  await pay(`/pay/${sessionId}`);
  await waitUntil('the change', 5_000, async () => {
    await stateStreams.tick();
    return (received += String(out.read() ?? '')).includes('"state":"declined"');
  });
  expect(received).toContain('Ha ho tjhelete e lekaneng kareteng ena');
  out.destroy();
});

test('error messages are in the language of the page; in English, an error without its own text has the message of the reply', async () => {
  const rejectAllCharges = (code: 'card-key.not-in-use' | 'request.invalid'): Promise<void> =>
    gateway.respondToCharges(() => ({ ok: false, code, message: 'In English', fields: [] }));
  const sessionId = await gateway.createSession(merchant);
  const payError = async (query: string, language: string): Promise<unknown> =>
    (await pay(`/pay/${sessionId}`, query, { 'accept-language': language })).body.errors[0].message;
  await rejectAllCharges('request.invalid');
  expect(await payError('', 'en')).toBe('In English');
  expect(await payError('', 'af')).toBe('Die betaling is nie aanvaar nie. Gaan jou besonderhede na en probeer weer.');
  expect(await payError('?lang=zu', 'af')).toContain('Inkokhelo ayamukelwanga.');
  await rejectAllCharges('card-key.not-in-use');
  expect(await payError('', 'en')).toBe('This page is out of date. Reload it and try again. Nothing was charged.');
  expect(await payError('?lang=xh', 'en')).toContain('Eli phepha liphelelwe lixesha.');
});

test('the URL to which the bank redirects the payer contains the language of the page’s address', async () => {
  const payerReturnUrls: string[] = [];
  await gateway.respondToCharges(({ payable, reference, payerReturnUrl }) => {
    payerReturnUrls.push(payerReturnUrl);
    return { ok: true, reply: buildPayment(payable, { reference, version: 3 }) };
  });
  const sessionId = await gateway.createSession(merchant);
  const [session] = await gateway.dataSource.query<{ code: string }[]>(
    `SELECT code FROM sessions WHERE session_id = $1`,
    [await gateway.createSession(merchant)],
  );
  await pay(`/pay/${sessionId}`, '?lang=zu');
  await pay(`/c/${session!.code}`, '?lang=af');
  expect(payerReturnUrls).toEqual([
    `https://pay.example/pay?sessionId=${sessionId}&lang=zu`,
    `${CODES_URL}/c/${session!.code}?lang=af`,
  ]);
});

test('pages without a session, also those of an outage, use the browser’s language', async () => {
  expect(await getHtml(`/pay?sessionId=${randomUUID()}`, 'zu')).toContain('Leli khasi lokukhokha alikho');
  expect(await getHtml(`/c/${'0'.repeat(20)}`, 'xh')).toContain('Le khowudi ayinakuhlawulwa apha');
  const sessionId = await gateway.createSession(merchant);
  const connectionLost = Object.assign(new Error('Connection terminated'), { code: '57P01' });
  const find = jest
    .spyOn(gateway.service.app.get(SessionRepository), 'findByAddress')
    .mockRejectedValue(connectionLost);
  const outage = await getHtml(`/pay?sessionId=${sessionId}&lang=st`, 'af');
  find.mockRestore();
  expect(outage).toContain('Leqephe lena ha le fumanehe hajwale');
  expect(outage).toContain(`href="?sessionId=${sessionId}&amp;lang=af"`);
});
