import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningAcquirer, startSimulatedAcquirer } from './simulated-acquirer.js';

const folder = mkdtempSync(join(tmpdir(), 'svc-acquirer-'));
const store = join(folder, 'charges.jsonl');
let acquirer: RunningAcquirer;
beforeEach(async () => {
  acquirer = await startSimulatedAcquirer({ SVC_ACQUIRER_STORE: store, SVC_LOG_LEVEL: 'silent' });
});
afterEach(() => acquirer.close());
afterAll(() => rmSync(folder, { recursive: true }));

let next = 0;
const aCharge = (cardNumber = '4242424242424242') => ({
  key: `key-${next++}`,
  paymentReference: 'REF',
  amount: 12345,
  currency: 'ZAR',
  cardNumber,
});
const post = (path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(acquirer.url + path, {
    method: 'POST',
    headers: { ...headers, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
const LIVE = { 'acquirer-mode': 'live' };
const linesOf = (key: string): string[] =>
  readFileSync(store, 'utf8')
    .split('\n')
    .filter((line) => line.includes(`"${key}"`));

test('charges once for each key, however often the request is repeated, and stores no card number', async () => {
  const charge = aCharge();
  const answers = await Promise.all([post('/charges', charge), post('/charges', charge), post('/charges', charge)]);
  const records = await Promise.all(answers.map((answer) => answer.json()));
  expect(new Set(records.map((record) => JSON.stringify(record))).size).toBe(1);
  expect(records[0]).toMatchObject({ outcome: 'approved', charged: true, amount: 12345 });
  expect(linesOf(charge.key)).toHaveLength(1);
  expect(readFileSync(store, 'utf8')).not.toContain(charge.cardNumber);
});

test.each([
  ['4000000000000002', 'declined'],
  ['4000000000009995', 'insufficient-funds'],
  ['4000000000000069', 'expired'],
  ['4000000000000127', 'incorrect-cvv'],
])('%s is declined: %s', async (cardNumber, reason) => {
  expect(await (await post('/charges', aCharge(cardNumber))).json()).toMatchObject({
    outcome: 'declined',
    reason,
    charged: false,
  });
});

test('stores the names of the fields of the payer’s context, and none of their values', async () => {
  const browser = { userAgent: 'Karoobrowser/7', language: 'af-x-karoo', screenWidth: 1441, javaScriptEnabled: true };
  const charge = { ...aCharge(), payer: { address: '203.0.113.7', email: 'payer@karoo.example', browser } };
  const record = (await (await post('/charges', charge)).json()) as { payerContext: string[] };
  expect(record.payerContext).toEqual([
    'address',
    'browser.javaScriptEnabled',
    'browser.language',
    'browser.screenWidth',
    'browser.userAgent',
    'email',
  ]);
  expect(linesOf(charge.key).join()).toContain('browser.userAgent');
  expect(readFileSync(store, 'utf8')).not.toMatch(/Karoobrowser|af-x-karoo|1441|203\.0\.113|karoo\.example/);
  expect(await (await post('/charges', aCharge())).json()).not.toHaveProperty('payerContext');
});

test.each([
  { address: 'not an address' },
  { email: 'none' },
  { browser: { userAgent: 'x'.repeat(2049) } },
  { browser: { screenWidth: -1 } },
  { browser: 'x' },
])('refuses the payer’s context %j, which the platform must not send', async (payer) => {
  expect((await post('/charges', { ...aCharge(), payer })).status).toBe(400);
});

test('charges at once and answers late: asked meanwhile, it says what happened', async () => {
  const charge = aCharge('4000000000006009');
  const answer = post('/charges', charge).catch(() => 'closed before it was answered');
  const asked = async (): Promise<{ charged?: boolean }> =>
    (await (await fetch(`${acquirer.url}/charges/${charge.key}`)).json()) as { charged?: boolean };
  while (!(await asked()).charged);
  expect(await Promise.race([answer, asked()])).toMatchObject({ outcome: 'approved', charged: true });
});

test('charges and drops the answer; asked afterwards, it says what happened', async () => {
  const charge = aCharge('4000000000004087');
  await expect(post('/charges', charge)).rejects.toThrow('fetch failed');
  expect(await (await fetch(`${acquirer.url}/charges/${charge.key}`)).json()).toMatchObject({
    outcome: 'approved',
    charged: true,
  });
});

test('a reversal gives back what was charged, and bars a key under which nothing was', async () => {
  const charge = aCharge();
  await post('/charges', charge);
  for (let repeat = 0; repeat < 2; repeat++) {
    expect(await (await post(`/charges/${charge.key}/reversal`)).json()).toMatchObject({
      outcome: 'reversed',
      charged: true,
    });
  }
  const late = aCharge();
  expect((await fetch(`${acquirer.url}/charges/${late.key}`)).status).toBe(404);
  expect(await (await post(`/charges/${late.key}/reversal`)).json()).toMatchObject({
    outcome: 'reversed',
    charged: false,
  });
  expect(await (await post('/charges', late)).json()).toMatchObject({ outcome: 'reversed', charged: false });
});

describe('a card whose owner is verified', () => {
  const returnUrl = 'https://pay.example/pay?sessionId=1&x="';
  const challenged = async (): Promise<{ reference: string; url: string; key: string }> => {
    const charge = { ...aCharge('4000000000003220'), returnUrl };
    const { outcome, charged, challenge, challengeUrl } = await (await post('/charges', charge)).json();
    expect([outcome, charged, challenge.state]).toEqual(['challenged', false, 'pending']);
    return { reference: challenge.reference, url: challengeUrl, key: charge.key };
  };
  const answer = (url: string, given: string): Promise<Response> =>
    fetch(url, { method: 'POST', body: new URLSearchParams({ answer: given }), redirect: 'manual' });
  const stateOf = async (url: string): Promise<unknown> => (await fetch(`${url}/state`)).json();
  const chargeVerified = async (challengeReference: string): Promise<{ outcome: string; reason?: string }> => {
    const { cardNumber: _, ...charge } = aCharge();
    return (await post('/charges', { ...charge, challengeReference })).json();
  };

  test('is charged after the payer has confirmed, and not before', async () => {
    const { reference, url } = await challenged();
    expect(await chargeVerified(reference)).toMatchObject({ outcome: 'declined', reason: 'not-verified' });
    const page = await fetch(url);
    expect(page.headers.get('content-security-policy')).toContain("form-action 'self' https://pay.example;");
    expect(await page.text()).toContain('ZAR 123.45');
    expect(await stateOf(url)).toEqual({ state: 'pending' });

    const { status, headers } = await answer(url, 'confirm');
    expect([status, headers.get('location')]).toEqual([303, returnUrl]);
    expect(await stateOf(url)).toEqual({ state: 'passed' });
    expect(await chargeVerified(reference)).toMatchObject({ outcome: 'approved', charged: true });
    // The first answer counts, and the page shows it.
    await answer(url, 'refuse');
    expect(await stateOf(url)).toEqual({ state: 'passed' });
    expect(await (await fetch(url)).text()).toContain('sessionId=1&#38;x=&#34;');
  });

  test('is not charged after he has refused, nor after the key was reversed', async () => {
    const refused = await challenged();
    await answer(refused.url, 'refuse');
    expect(await stateOf(refused.url)).toEqual({ state: 'failed' });
    expect(await chargeVerified(refused.reference)).toMatchObject({ outcome: 'declined', reason: 'not-verified' });

    const reversed = await challenged();
    expect(await (await post(`/charges/${reversed.key}/reversal`)).json()).toMatchObject({ charged: false });
    await answer(reversed.url, 'confirm');
    expect(await stateOf(reversed.url)).toEqual({ state: 'failed' });
    expect(await chargeVerified(reversed.reference)).toMatchObject({ outcome: 'declined' });
  });

  test('is not charged when the key was reversed after he has confirmed', async () => {
    const { reference, url, key } = await challenged();
    await answer(url, 'confirm');
    await post(`/charges/${key}/reversal`);
    expect(await stateOf(url)).toEqual({ state: 'failed' });
    expect(await chargeVerified(reference)).toMatchObject({ outcome: 'declined', reason: 'not-verified' });
  });

  test('sees the state of the payment on the page', async () => {
    const pageAfter = async (happened: (challenge: { url: string; key: string }) => Promise<unknown>) => {
      const challenge = await challenged();
      await happened(challenge);
      return (await fetch(challenge.url)).text();
    };
    expect(await pageAfter(() => Promise.resolve())).toContain('Is this payment yours?');
    expect(await pageAfter(({ url }) => answer(url, 'confirm'))).toContain('This payment was confirmed.');
    expect(await pageAfter(({ url }) => answer(url, 'refuse'))).toContain('This payment was not confirmed.');
    // An answer that comes after the reversal does not count.
    for (const given of ['confirm', undefined])
      expect(
        await pageAfter(async ({ url, key }) => {
          await post(`/charges/${key}/reversal`);
          if (given !== undefined) await answer(url, given);
        }),
      ).toContain('This payment was not confirmed.');
  });

  test('gets an error for an unknown challenge or answer', async () => {
    const { url } = await challenged();
    const unclear = await answer(url, 'perhaps');
    expect([unclear.status, await unclear.json()]).toEqual([400, { message: 'confirm or refuse' }]);
    for (const path of ['/challenges/other', '/challenges/other/state'])
      expect((await fetch(acquirer.url + path)).status).toBe(404);
    expect((await answer(`${acquirer.url}/challenges/other`, 'confirm')).status).toBe(404);
  });
});

describe('live mode', () => {
  const cards = { cardNumber: '4242424242424242' };
  const statuses = async (): Promise<number[]> =>
    Promise.all([
      post('/charges', aCharge(), LIVE).then(({ status }) => status),
      post('/cards', cards, LIVE).then(({ status }) => status),
      post('/charges', aCharge()).then(({ status }) => status),
    ]);
  const restart = async (env: Record<string, string>): Promise<void> => {
    await acquirer.close();
    acquirer = await startSimulatedAcquirer({ SVC_ACQUIRER_STORE: store, ...env });
  };

  test('accepts charges and cards only if configured, and never in production', async () => {
    expect(await statuses()).toEqual([403, 403, 200]);
    await restart({ SVC_ACQUIRER_LIVE: 'simulated' });
    expect(await statuses()).toEqual([200, 200, 200]);
    await restart({ SVC_ACQUIRER_LIVE: 'simulated', SVC_ENVIRONMENT: 'production' });
    expect(await statuses()).toEqual([403, 403, 200]);
  });

  test('a live charge is recorded as live, and can always be read and reversed', async () => {
    await restart({ SVC_ACQUIRER_LIVE: 'simulated' });
    const charge = aCharge();
    await post('/charges', charge, LIVE);
    await restart({});
    const asked = await fetch(`${acquirer.url}/charges/${charge.key}`, { headers: LIVE });
    expect(await asked.json()).toMatchObject({ outcome: 'approved', mode: 'live' });
    const reversed = await post(`/charges/${charge.key}/reversal`, undefined, LIVE);
    expect(await reversed.json()).toMatchObject({ outcome: 'reversed', charged: true, mode: 'live' });
  });
});

test('keeps its records after a restart, also if the last line was cut off', async () => {
  const charge = aCharge();
  await post('/charges', charge);
  await acquirer.close();
  writeFileSync(store, '{"key":"half', { flag: 'a' });
  acquirer = await startSimulatedAcquirer({ SVC_ACQUIRER_STORE: store });
  expect((await fetch(`${acquirer.url}/charges/${charge.key}`)).status).toBe(200);
  const another = aCharge();
  await post('/charges', another);
  expect(linesOf(another.key)).toHaveLength(1);
});

test.each([{ amount: 0 }, { amount: 1.5 }, { cardNumber: 'x' }, { key: '' }])('refuses %j', async (bad) => {
  const refused = await post('/charges', { ...aCharge(), ...bad });
  const message = expect.stringMatching(new RegExp(`^body/${Object.keys(bad)[0]} must `));
  expect([refused.status, await refused.json()]).toEqual([400, expect.objectContaining({ message })]);
});
