import { waitUntil } from '@svc/testing';
import { TestEmulator } from '../../../test/running-emulator.js';

const emulator = new TestEmulator();
beforeAll(() => emulator.start());
afterAll(() => emulator.stop());
afterEach(() => emulator.control('DELETE', '/faults'));

const newKey = () => ({ 'idempotency-key': `key-${emulator.newReference()}` });

test('a repeated request returns the first response, and its header contains the key', async () => {
  const headers = newKey();
  const request = emulator.paymentRequest();
  const first = await emulator.call('POST', '/payments', request, headers);
  expect(first.headers.get('idempotency-key')).toBe(headers['idempotency-key']);
  expect(first.headers.has('transient-error')).toBe(false);
  const second = await emulator.call('POST', '/payments', request, headers);
  expect(second).toMatchObject({ status: 200, body: first.body });
  const authorisations = await emulator.received('AUTHORISATION');
  expect(authorisations.filter((item) => item.merchantReference === request['reference'])).toHaveLength(1);
});

test('the first response survives a restart, and a week', async () => {
  const headers = newKey();
  const request = emulator.paymentRequest();
  const first = await emulator.call('POST', '/payments', request, headers);
  await emulator.restart();
  emulator.advance(8 * 24 * 3_600_000);
  expect((await emulator.call('POST', '/payments', request, headers)).body).toEqual(first.body);
});

test('requests without a key, and with another key, are different payments', async () => {
  const request = emulator.paymentRequest();
  const responses = [
    await emulator.call('POST', '/payments', request),
    await emulator.call('POST', '/payments', request),
    await emulator.call('POST', '/payments', request, newKey()),
    await emulator.call('POST', '/payments', request, newKey()),
  ];
  expect(new Set(responses.map(({ body }) => body.pspReference)).size).toBe(4);
});

test('keys belong to the company account: another body and another operation get the first response', async () => {
  const headers = newKey();
  const first = await emulator.pay({}, headers);
  expect((await emulator.pay({ amount: { currency: 'ZAR', value: 1 } }, headers)).body).toEqual(first.body);
});

test('a validation error is the first response too', async () => {
  const headers = newKey();
  const first = await emulator.pay({ amount: { currency: 'ZAR', value: -1 } }, headers);
  expect(first.status).toBe(422);
  const second = await emulator.pay({}, headers);
  expect(second).toMatchObject({ status: 422, body: first.body });
  expect(second.headers.get('idempotency-key')).toBe(headers['idempotency-key']);
});

test.each([{ 'x-api-key': 'wrong' }, { 'content-type': 'text/plain' }])(
  'a request with %j is not processed, so its key stays free',
  async (wrong) => {
    const headers = newKey();
    expect((await emulator.pay({}, { ...headers, ...wrong })).status).toBeLessThan(402);
    expect((await emulator.pay({}, headers)).status).toBe(200);
  },
);

test('a request while the first one is processed is rejected as a transient error', async () => {
  const headers = newKey();
  const request = emulator.paymentRequest();
  await emulator.control('POST', '/faults', { type: 'delay-request', delayMs: 1_000 });
  const first = emulator.call('POST', '/payments', request, headers);
  await waitUntil('the first request to arrive', 5_000, async () => {
    const { body } = await emulator.control('GET', '/state');
    return (body['faults'] as unknown[]).length === 0;
  });
  const inProgress = await emulator.call('POST', '/payments', request, headers);
  expect(inProgress.status).toBe(422);
  expect(inProgress.body).toMatchObject({ errorCode: '704', message: 'request already processed or in progress' });
  expect(inProgress.headers.get('transient-error')).toBe('true');
  const { body } = await first;
  expect(body.resultCode).toBe('Authorised');
  expect((await emulator.call('POST', '/payments', request, headers)).body).toEqual(body);
});

test('the trigger of a transient error leaves the key free', async () => {
  const headers = newKey();
  const trigger = { RequestedTestErrorResponseCode: 'NO_CONNECTION_AVAILABLE' };
  const failed = await emulator.pay({ additionalData: trigger }, headers);
  expect(failed.status).toBe(500);
  expect(failed.headers.get('transient-error')).toBe('true');
  expect((await emulator.pay({}, headers)).body.resultCode).toBe('Authorised');
});

test('the trigger of another error is the first response to the key', async () => {
  const headers = newKey();
  const trigger = { RequestedTestErrorResponseCode: 'IOEXCEPTION_RECEIVED' };
  const failed = await emulator.pay({ additionalData: trigger }, headers);
  expect(failed.status).toBe(500);
  expect(failed.headers.has('transient-error')).toBe(false);
  expect(await emulator.pay({}, headers)).toMatchObject({ status: 500, body: failed.body });
});

test('a key of more than 64 characters is rejected', async () => {
  expect((await emulator.pay({}, { 'idempotency-key': 'x'.repeat(64) })).status).toBe(200);
  expect((await emulator.pay({}, { 'idempotency-key': 'x'.repeat(65) })).status).toBe(422);
});
