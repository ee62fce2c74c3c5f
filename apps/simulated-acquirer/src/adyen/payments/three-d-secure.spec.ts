import { newCard, TestEmulator } from '../../../test/running-emulator.js';

const emulator = new TestEmulator();
beforeAll(() => emulator.start());
afterAll(() => emulator.stop());
afterEach(() => expect(emulator.webhookProblems).toEqual([]));

const BROWSER = {
  userAgent: 'Mozilla/5.0',
  acceptHeader: 'text/html',
  javaEnabled: false,
  colorDepth: 24,
  screenHeight: 900,
  screenWidth: 1440,
  timeZoneOffset: -120,
  language: 'en-ZA',
};
const ENROLLED = {
  paymentMethod: newCard({ number: '4212345678901237' }),
  browserInfo: BROWSER,
  origin: 'https://pay.example',
  channel: 'Web',
};

const challenge = async (changes: Record<string, unknown> = {}) => {
  const request = emulator.paymentRequest({ ...ENROLLED, ...changes });
  const { body } = await emulator.call('POST', '/payments', request);
  expect(body).toMatchObject({
    resultCode: 'RedirectShopper',
    action: { type: 'redirect', method: 'GET', paymentMethodType: 'scheme' },
  });
  return { url: body.action!.url, pspReference: body.pspReference!, reference: request['reference'] as string };
};
const press = (url: string, answer: string) =>
  fetch(url, { method: 'POST', body: new URLSearchParams({ answer }), redirect: 'manual' });
/** The payer's answer; the `redirectResult` that the return URL contains, decoded. */
const answer = async (url: string, button: 'pass' | 'fail') => {
  const response = await press(url, button);
  expect(response.status).toBe(303);
  return new URL(response.headers.get('location')!).searchParams.get('redirectResult')!;
};
const submit = (redirectResult: string, headers?: Record<string, string>) =>
  emulator.call('POST', '/payments/details', { details: { redirectResult } }, headers);

test('a payer who passes returns with an encoded result, with which the payment is authorised', async () => {
  const { url, pspReference, reference } = await challenge();
  const response = await press(url, 'pass');
  const location = response.headers.get('location')!;
  expect(location).toMatch(/^https:\/\/shop\.example\/return\?order=7&redirectResult=X6XtfGC3%21/);
  expect(location).toContain('%2B%2FA%3D%3D');
  const redirectResult = new URL(location).searchParams.get('redirectResult')!;
  expect((await emulator.received()).map(({ merchantReference }) => merchantReference)).not.toContain(reference);

  const { status, body } = await submit(redirectResult);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    resultCode: 'Authorised',
    merchantReference: reference,
    additionalData: { threeDOffered: 'true', threeDAuthenticated: 'true' },
  });
  expect(body.pspReference).not.toBe(pspReference);
  expect((await emulator.received('AUTHORISATION')).at(-1)).toMatchObject({
    pspReference: body.pspReference,
    success: 'true',
  });
  await emulator.modify(body.pspReference!, 'captures', { amount: { currency: 'ZAR', value: 12345 } });
  expect((await emulator.received('CAPTURE')).at(-1)).toMatchObject({ success: 'true' });
  const wrong = await emulator.modify(pspReference, 'captures', { amount: { currency: 'ZAR', value: 12345 } });
  expect(wrong.body.errorCode).toBe('167');
});

test('a payer who fails is refused', async () => {
  const { url } = await challenge();
  const { body } = await submit(await answer(url, 'fail'));
  expect(body).toMatchObject({
    resultCode: 'Refused',
    refusalReason: '3D Not Authenticated',
    refusalReasonCode: '11',
    additionalData: { threeDAuthenticated: 'false' },
  });
  expect((await emulator.received('AUTHORISATION')).at(-1)).toMatchObject({
    success: 'false',
    reason: '3D Not Authenticated',
  });
});

test('a payer who passes can still be refused by the issuer', async () => {
  const { url } = await challenge({
    paymentMethod: newCard({ number: '5454545454545454', holderName: 'NOT_ENOUGH_BALANCE' }),
  });
  const { body } = await submit(await answer(url, 'pass'));
  expect(body).toMatchObject({ resultCode: 'Refused', refusalReasonCode: '12' });
});

test('a payer who leaves can answer later; until then nothing is authorised', async () => {
  const { url, reference } = await challenge();
  const left = await press(url, 'leave');
  expect(left.status).toBe(200);
  expect(await left.text()).toContain('Nothing was authorised');
  const merchantReferences = (await emulator.received()).map(({ merchantReference }) => merchantReference);
  expect(merchantReferences).not.toContain(reference);
  expect((await submit(await answer(url, 'pass'))).body.resultCode).toBe('Authorised');
});

test('the first answer counts', async () => {
  const { url } = await challenge();
  const result = await answer(url, 'fail');
  expect(await answer(url, 'pass')).toBe(result);
  expect((await submit(result)).body.resultCode).toBe('Refused');
});

test('a result is submitted once, unless the request repeats its idempotency key', async () => {
  const { url } = await challenge();
  const result = await answer(url, 'pass');
  const headers = { 'idempotency-key': emulator.newReference() };
  const first = await submit(result, headers);
  expect((await submit(result, headers)).body).toEqual(first.body);
  expect(await submit(result)).toMatchObject({ status: 422, body: { errorCode: '14_002' } });
});

test.each(['unknown', ''])('the result "%s" is rejected', async (result) => {
  expect(await submit(result)).toMatchObject({ status: 422, body: { errorCode: '14_002' } });
});

test('details without a result are rejected', async () => {
  const { status } = await emulator.call('POST', '/payments/details', { details: {} });
  expect(status).toBe(422);
});

test.each([
  ['https://shop.example/return', 'https://shop.example/return?redirectResult='],
  ['https://shop.example/return#paid', 'https://shop.example/return?redirectResult='],
])('the return URL %s gets the result in its query', async (returnUrl, start) => {
  const { url } = await challenge({ returnUrl });
  const location = (await press(url, 'pass')).headers.get('location')!;
  expect(location.startsWith(start)).toBe(true);
  expect(new URL(location).hash).toBe(new URL(returnUrl).hash);
});

test('a return URL that no header can contain is rejected', async () => {
  const { status } = await emulator.pay({ ...ENROLLED, returnUrl: 'https://shop.example/\r\nx: y' });
  expect(status).toBe(422);
});

test.each([
  ['no browser', { browserInfo: undefined }],
  ['no origin', { origin: undefined }],
  ['no channel', { channel: undefined }],
])('an enrolled card with %s cannot be authenticated', async (_case, changes) => {
  const { body } = await emulator.pay({ ...ENROLLED, ...changes });
  expect(body).toMatchObject({ resultCode: 'Refused', refusalReasonCode: '11' });
});

test.each([
  ['requests no authentication', { authenticationData: { attemptAuthentication: 'never' } }],
  ['is made without the payer', { shopperInteraction: 'ContAuth' }],
  ['has a card that is not enrolled', { paymentMethod: newCard() }],
])('a payment that %s is authorised without a redirect', async (_case, changes) => {
  expect((await emulator.pay({ ...ENROLLED, ...changes })).body.resultCode).toBe('Authorised');
});

test('native 3D Secure is rejected, because the emulator does not have it', async () => {
  const authenticationData = { threeDSRequestData: { nativeThreeDS: 'preferred' } };
  expect((await emulator.pay({ ...ENROLLED, authenticationData })).status).toBe(422);
});

test('a challenge survives a restart', async () => {
  const { url } = await challenge();
  const result = await answer(url, 'pass');
  await emulator.restart();
  expect((await submit(result)).body.resultCode).toBe('Authorised');
});

test('the page says that it is an emulator, has a language, a heading and no script', async () => {
  const { url, reference } = await challenge();
  const response = await fetch(url);
  const html = await response.text();
  expect(html).toContain('<html lang="en">');
  expect(html).toContain('an emulator, not a bank');
  expect(html.match(/<h1>/g)).toHaveLength(1);
  expect(html).toContain('ZAR 123.45');
  expect(html).toContain(reference);
  expect(html).not.toContain('<script');
  expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect((await press(url, 'maybe')).status).toBe(400);
  expect((await fetch(url.replace(/[^/]+$/, 'unknown'))).status).toBe(404);
  expect((await press(url.replace(/[^/]+$/, 'unknown'), 'pass')).status).toBe(404);
});

test('the page escapes the merchant’s reference', async () => {
  const { url } = await challenge({ reference: '<b>&"' });
  expect(await (await fetch(url)).text()).toContain('&#60;b&#62;&#38;&#34;');
});
