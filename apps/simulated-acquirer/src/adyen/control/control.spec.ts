import { request as httpRequest } from 'node:http';
import { ACCOUNT, API_KEY, newCard, TestEmulator } from '../../../test/running-emulator.js';

const emulator = new TestEmulator();
beforeAll(() => emulator.start());
afterAll(() => emulator.stop());
afterEach(() => emulator.control('DELETE', '/faults'));

const fault = (body: object) => emulator.control('POST', '/faults', body);
const authorisationsOf = async (reference: unknown) =>
  (await emulator.received('AUTHORISATION')).filter((item) => item.merchantReference === reference);
/** A payment without the check of the response, which a fault changes. */
const payRaw = (body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${emulator.url}/v71/payments`, {
    method: 'POST',
    headers: { 'x-api-key': API_KEY, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

describe('faults', () => {
  test('a lost request authorises nothing; the next request with the key does', async () => {
    const body = emulator.paymentRequest();
    const headers = { 'idempotency-key': emulator.newReference() };
    await fault({ type: 'lose-request' });
    await expect(payRaw(body, headers)).rejects.toThrow('fetch failed');
    expect(await authorisationsOf(body['reference'])).toEqual([]);
    expect((await emulator.call('POST', '/payments', body, headers)).body.resultCode).toBe('Authorised');
  });

  test('a lost response authorises once, and the key returns the first response', async () => {
    const body = emulator.paymentRequest();
    const headers = { 'idempotency-key': emulator.newReference() };
    await fault({ type: 'lose-response' });
    await expect(payRaw(body, headers)).rejects.toThrow('fetch failed');
    const [authorisation] = await authorisationsOf(body['reference']);
    const repeated = await emulator.call('POST', '/payments', body, headers);
    expect(repeated.body).toMatchObject({ resultCode: 'Authorised', pspReference: authorisation?.pspReference });
    expect(await authorisationsOf(body['reference'])).toHaveLength(1);
  });

  test.each([
    ['status', 429, 'true', 0],
    ['status', 503, 'true', 0],
    ['status-after', 500, null, 1],
  ])('the fault %s answers %i', async (type, status, transient, authorisations) => {
    const body = emulator.paymentRequest();
    await fault({ type, status });
    const response = await payRaw(body);
    expect(response.status).toBe(status);
    expect(response.headers.get('transient-error')).toBe(transient);
    expect(await authorisationsOf(body['reference'])).toHaveLength(authorisations);
  });

  test('an error that is not transient is the response to each request under its key', async () => {
    const body = emulator.paymentRequest();
    const headers = { 'idempotency-key': emulator.newReference() };
    await fault({ type: 'status-after', status: 500 });
    expect((await payRaw(body, headers)).status).toBe(500);
    expect((await payRaw(body, headers)).status).toBe(500);
    expect(await authorisationsOf(body['reference'])).toHaveLength(1);
  });

  test.each([
    ['not-json', 0],
    ['not-json-after', 1],
  ])('the fault %s answers with a page', async (type, authorisations) => {
    const body = emulator.paymentRequest();
    await fault({ type });
    const response = await payRaw(body);
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('<html>');
    expect(await authorisationsOf(body['reference'])).toHaveLength(authorisations);
  });

  test('a webhook arrives before a delayed response', async () => {
    const body = emulator.paymentRequest();
    await fault({ type: 'delay-response', delayMs: 1_000 });
    let isAnswered = false;
    const response = payRaw(body).then(() => (isAnswered = true));
    while ((await authorisationsOf(body['reference'])).length === 0) expect(isAnswered).toBe(false);
    expect(isAnswered).toBe(false);
    await response;
  });

  test('a fault applies to an operation, a reference and a number of requests only', async () => {
    const reference = emulator.newReference();
    await fault({ type: 'status', operation: 'payments', reference, times: 2 });
    expect((await emulator.pay()).status).toBe(200);
    expect((await payRaw(emulator.paymentRequest({ reference }))).status).toBe(503);
    expect((await payRaw(emulator.paymentRequest({ reference }))).status).toBe(503);
    const { status, body } = await emulator.pay({ reference });
    expect(status).toBe(200);
    await fault({ type: 'status', operation: 'captures', reference: body.pspReference });
    expect((await emulator.modify(body.pspReference!, 'cancels')).status).toBe(201);
    const capture = { amount: { currency: 'ZAR', value: 1 } };
    await expect(emulator.modify(body.pspReference!, 'captures', capture)).rejects.toThrow('is not documented');
  });

  test.each([{}, { type: 'unknown' }, { type: 'status', status: 200 }, { type: 'delay-request', delayMs: 120_001 }])(
    'the fault %j is rejected',
    async (body) => {
      expect((await fault(body)).status).toBe(400);
    },
  );
});

describe('the clock', () => {
  test('it advances, and stays advanced after a restart', async () => {
    const before = Date.parse((await emulator.control('GET', '/state')).body['now'] as string);
    await emulator.control('POST', '/clock', { advanceMs: 3_600_000 });
    await emulator.restart();
    const after = Date.parse((await emulator.control('GET', '/state')).body['now'] as string);
    expect(after - before).toBe(3_600_000);
    expect((await emulator.control('POST', '/clock', { advanceMs: -1 })).status).toBe(400);
  });
});

describe('the page', () => {
  const submit = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
    fetch(`${emulator.url}/emulator${path}`, {
      method: 'POST',
      body: new URLSearchParams(fields),
      redirect: 'manual',
      headers,
    });

  test('it lists payments, refunds and webhooks, has labels and headings and no script', async () => {
    const reference = '<i>escaped</i>';
    const pspReference = await emulator.capture({ reference });
    const refund = await emulator.modify(pspReference, 'refunds', { amount: { currency: 'ZAR', value: 345 } });
    await emulator.pay({ paymentMethod: newCard({ holderName: 'DECLINED' }) });
    const response = await fetch(`${emulator.url}/emulator/`);
    const html = await response.text();
    expect(html).toContain('<html lang="en">');
    expect(html.match(/<h1>/g)).toHaveLength(1);
    expect(html).toContain('&#60;i&#62;escaped&#60;/i&#62;');
    expect(html).toContain(`/emulator/payments/${pspReference}/disputes`);
    expect(html).toContain(`/emulator/refunds/${refund.body.pspReference}/failed`);
    expect(html).toContain('Refund of ZAR 3.45 fails');
    expect(html).toContain('Capture of &#60;i&#62;escaped&#60;/i&#62; fails');
    expect(html).toContain('refused, Refused');
    expect(html).not.toContain('<script');
    // Each field that a person fills in has a label.
    expect(html.match(/<select|<input(?! type="hidden")/g)?.length).toBe(html.match(/<label>/g)?.length);
    expect(response.headers.get('content-security-policy')).toContain("form-action 'self'");
  });

  test('its buttons return to the page', async () => {
    const pspReference = await emulator.capture();
    const response = await submit(`/payments/${pspReference}/disputes`, { eventCode: 'CHARGEBACK' });
    expect(response.status).toBe(303);
    expect(response.headers.get('location')).toBe('/emulator/');
    expect((await emulator.received('CHARGEBACK')).at(-1)).toMatchObject({ originalReference: pspReference });
    expect((await submit('/settlements', { merchantAccount: ACCOUNT })).status).toBe(303);
    expect((await submit('/faults', { type: 'delay-request', delayMs: '1', status: '' })).status).toBe(303);
    expect(await (await fetch(`${emulator.url}/emulator/`)).text()).toContain('delay-request (any)');
  });

  test('a page of another origin cannot press its buttons', async () => {
    const fields = { advanceMs: '1' };
    expect((await submit('/clock', fields, { origin: 'https://evil.example' })).status).toBe(403);
    expect((await submit('/clock', fields, { origin: new URL(emulator.url).origin })).status).toBe(303);
  });

  test('a host name that is not of this machine is rejected', async () => {
    expect(await statusFor('evil.example')).toBe(403);
    expect(await statusFor('localhost:1234')).toBe(200);
  });
});

/** The status of the page for this `Host` header. */
function statusFor(host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    httpRequest(`${emulator.url}/emulator/`, { headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end();
  });
}
