import { appendFileSync } from 'node:fs';
import { waitUntil } from '@svc/testing';
import { HMAC_KEY, TestEmulator } from '../../../test/running-emulator.js';
import { signNotification } from '../interface/hmac-signature.js';

let emulator: TestEmulator;
beforeEach(async () => {
  emulator = new TestEmulator();
  await emulator.start({ SVC_ADYEN_EMULATOR_WEBHOOK_RETRY_MS: '60000,120000' });
});
afterEach(async () => {
  expect(emulator.webhookProblems).toEqual([]);
  await emulator.stop();
});

const received = (expected: number) =>
  waitUntil(`${expected} webhooks`, 5_000, async () => emulator.webhooks.length >= expected);
const state = async (id: number) => {
  const { body } = await emulator.control('GET', '/state');
  return (body['webhooks'] as { id: number; state: string; attempts: number; lastError?: string }[]).find(
    (webhook) => webhook.id === id,
  );
};

test('a webhook is sent without a request, with basic authentication and a signature', async () => {
  await emulator.authorise();
  await received(1);
  const [{ item, live, authorization }] = emulator.webhooks as [(typeof emulator.webhooks)[0]];
  expect(live).toBe('false');
  expect(authorization).toBe(`Basic ${Buffer.from('hook-user:hook-password').toString('base64')}`);
  expect(item.additionalData['hmacSignature']).toBe(signNotification(item, HMAC_KEY));
});

test('a webhook that is not accepted is sent again on the schedule, whose last delay repeats', async () => {
  emulator.webhookStatus = 500;
  await emulator.authorise();
  const attempts = (expected: number) =>
    waitUntil(`attempt ${expected}`, 5_000, async () => (await state(1))?.attempts === expected);
  await attempts(1);
  expect(await state(1)).toMatchObject({ state: 'queued', lastError: 'status 500' });
  for (const [attempt, delayMs] of [
    [2, 60_000],
    [3, 120_000],
    [4, 120_000],
  ] as const) {
    await emulator.control('POST', '/clock', { advanceMs: delayMs - 1_000 });
    expect((await state(1))?.attempts).toBe(attempt - 1);
    await emulator.control('POST', '/clock', { advanceMs: 1_000 });
    await attempts(attempt);
  }
  emulator.webhookStatus = 200;
  await emulator.control('POST', '/clock', { advanceMs: 120_000 });
  await received(1);
});

test('while the endpoint fails, only the oldest webhook is sent; the others follow once it is accepted', async () => {
  emulator.webhookStatus = 500;
  await emulator.authorise();
  await waitUntil('the first attempt', 5_000, async () => (await state(1))?.attempts === 1);
  await emulator.authorise();
  await emulator.authorise();
  emulator.webhookStatus = 200;
  expect((await state(2))?.attempts).toBe(0);
  await emulator.control('POST', '/clock', { advanceMs: 60_000 });
  await received(3);
});

test('a restart loses no webhook, also if a crash has cut off the last line of the file', async () => {
  emulator.webhookStatus = 503;
  await emulator.authorise();
  await emulator.control('POST', '/webhooks/deliver');
  appendFileSync(emulator.storePath, '[{"kind":"payment","pspRef');
  await emulator.restart();
  await emulator.authorise();
  emulator.webhookStatus = 200;
  await emulator.control('POST', '/webhooks/deliver');
  await received(2);
  await emulator.restart();
  await emulator.control('POST', '/webhooks/deliver');
  expect(emulator.webhooks).toHaveLength(2);
});

test('a webhook that no endpoint accepts for 30 days is abandoned', async () => {
  emulator.webhookStatus = 500;
  await emulator.authorise();
  await emulator.control('POST', '/clock', { advanceMs: 31 * 24 * 3_600_000 });
  await waitUntil('the last attempt', 5_000, async () => (await state(1))?.state !== 'queued');
  expect(await state(1)).toMatchObject({ state: 'abandoned' });
  emulator.webhookStatus = 200;
  await emulator.control('POST', '/webhooks/deliver');
  expect(emulator.webhooks).toEqual([]);
});

test('without an endpoint webhooks wait until one is set', async () => {
  const url = emulator.webhookUrl;
  await emulator.restart({ SVC_ADYEN_EMULATOR_WEBHOOK_URL: '' });
  await emulator.authorise();
  await emulator.control('POST', '/webhooks/deliver');
  expect((await state(1))?.attempts).toBe(0);
  await emulator.control('PUT', '/webhook-endpoint', { url, user: 'other' });
  await received(1);
  expect(emulator.webhooks[0]?.authorization).toBe(`Basic ${Buffer.from('other:hook-password').toString('base64')}`);
});

describe('rules of the control interface', () => {
  const rule = (body: object) => emulator.control('POST', '/webhook-rules', body);

  test('withheld webhooks wait, also over a restart, and are released in any order', async () => {
    await rule({ action: 'withhold', eventCode: 'AUTHORISATION', times: 2 });
    const [first, second] = [await emulator.authorise(), await emulator.authorise()];
    const third = await emulator.authorise();
    await received(1);
    await emulator.restart();
    await emulator.control('POST', '/webhooks/deliver');
    expect(emulator.webhooks.map(({ item }) => item.pspReference)).toEqual([third]);
    await emulator.control('POST', '/webhooks/release', { order: 'newest-first' });
    expect(emulator.webhooks.map(({ item }) => item.pspReference)).toEqual([third, second, first]);
  });

  test('a webhook is sent twice', async () => {
    await rule({ action: 'duplicate' });
    await emulator.authorise();
    await received(2);
    expect(emulator.webhooks[0]).toEqual(emulator.webhooks[1]);
  });

  test('a webhook is delayed', async () => {
    await rule({ action: 'delay', delayMs: 60_000 });
    await emulator.authorise();
    await emulator.authorise();
    await received(1);
    expect((await state(1))?.attempts).toBe(0);
    await emulator.control('POST', '/clock', { advanceMs: 60_000 });
    await received(2);
  });

  test('a webhook pretends to be live, or has a wrong signature', async () => {
    await rule({ action: 'as-live' });
    await rule({ action: 'wrong-signature' });
    await emulator.authorise();
    await received(1);
    const { live, item } = emulator.webhooks[0]!;
    expect(live).toBe('true');
    expect(item.additionalData['hmacSignature']).not.toBe(signNotification(item, HMAC_KEY));
  });

  test('a rule applies to an event, a reference and a number of webhooks only', async () => {
    const reference = emulator.newReference();
    await rule({ action: 'withhold', eventCode: 'CAPTURE' });
    await rule({ action: 'withhold', merchantReference: reference });
    await emulator.authorise();
    await received(1);
    await emulator.authorise({ reference });
    await emulator.authorise({ reference });
    await received(2);
    expect((await emulator.control('GET', '/state')).body['webhookRules']).toHaveLength(1);
    await emulator.control('DELETE', '/webhook-rules');
    await emulator.capture();
    await received(4);
  });

  test('a webhook is sent again', async () => {
    await emulator.authorise();
    await received(1);
    expect((await emulator.control('POST', '/webhooks/1/send')).body).toMatchObject({ state: 'accepted', attempts: 2 });
    expect(emulator.webhooks).toHaveLength(2);
    expect((await emulator.control('POST', '/webhooks/99/send')).status).toBe(404);
  });

  test('an event that the platform does not use is sent', async () => {
    await emulator.control('POST', '/webhooks/events', { eventCode: 'EXPIRE', merchantAccount: 'Foreign' });
    await received(1);
    expect(emulator.webhooks[0]?.item).toMatchObject({ eventCode: 'EXPIRE', merchantAccountCode: 'Foreign' });
  });
});
