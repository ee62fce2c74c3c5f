import { createHash } from 'node:crypto';
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

let nextKeyNumber = 0;
const createChargeRequest = (cardNumber = '4242424242424242') => ({
  key: `key-${nextKeyNumber++}`,
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
const LIVE_MODE_HEADERS = { 'acquirer-mode': 'live' };
const storedLines = (key: string): string[] =>
  readFileSync(store, 'utf8')
    .split('\n')
    .filter((line) => line.includes(`"${key}"`));

test('the bank charges once for each key, even if the request is repeated, and stores no card number', async () => {
  const charge = createChargeRequest();
  const responses = await Promise.all([post('/charges', charge), post('/charges', charge), post('/charges', charge)]);
  const records = await Promise.all(responses.map((response) => response.json()));
  expect(new Set(records.map((record) => JSON.stringify(record))).size).toBe(1);
  expect(records[0]).toMatchObject({ outcome: 'approved', charged: true, amount: 12345 });
  expect(storedLines(charge.key)).toHaveLength(1);
  expect(readFileSync(store, 'utf8')).not.toContain(charge.cardNumber);
});

test.each([
  ['4000000000000002', 'declined'],
  ['4000000000009995', 'insufficient-funds'],
  ['4000000000000069', 'expired'],
  ['4000000000000127', 'incorrect-cvv'],
  ['4000000000009987', 'lost'],
  ['4000000000009979', 'stolen'],
])('a charge to the card %s is declined with the reason %s', async (cardNumber, reason) => {
  expect(await (await post('/charges', createChargeRequest(cardNumber))).json()).toMatchObject({
    outcome: 'declined',
    reason,
    charged: false,
  });
});

test('a charge to a number of the range 4998 is declined unless it has the CVV of the card, and the CVV is not stored', async () => {
  const chargeWith = async (cvv?: string): Promise<unknown> => {
    const charge = { ...createChargeRequest('4998000000000002'), ...(cvv === undefined ? {} : { cvv }) };
    return (await post('/charges', charge)).json();
  };
  expect(await chargeWith('987')).toMatchObject({ outcome: 'declined', reason: 'incorrect-cvv', charged: false });
  expect(await chargeWith('123')).toMatchObject({ outcome: 'approved' });
  expect(await chargeWith()).toMatchObject({ outcome: 'approved' });
  expect(readFileSync(store, 'utf8')).not.toContain('"987"');
  expect((await post('/charges', { ...createChargeRequest(), cvv: '12' })).status).toBe(400);
});

test('the vault stores the behaviour of a number of the range 4999', async () => {
  const cardNumber = '4999000000000017';
  const { vaultToken } = await (await post('/cards', { cardNumber })).json();
  const { cardNumber: _, ...charge } = createChargeRequest();
  const direct = await (await post('/charges', createChargeRequest(cardNumber))).json();
  const stored = await (await post('/charges', { ...charge, vaultToken })).json();
  expect(stored).toMatchObject({ outcome: 'declined', reason: direct.reason });
});

test('the bank stores the names of the fields of the payer’s context, but not their values', async () => {
  const browser = { userAgent: 'Karoobrowser/7', language: 'af-x-karoo', screenWidth: 1441, javaScriptEnabled: true };
  const charge = { ...createChargeRequest(), payer: { address: '203.0.113.7', email: 'payer@karoo.example', browser } };
  const record = (await (await post('/charges', charge)).json()) as { payerContext: string[] };
  expect(record.payerContext).toEqual([
    'address',
    'browser.javaScriptEnabled',
    'browser.language',
    'browser.screenWidth',
    'browser.userAgent',
    'email',
  ]);
  expect(storedLines(charge.key).join()).toContain('browser.userAgent');
  expect(readFileSync(store, 'utf8')).not.toMatch(/Karoobrowser|af-x-karoo|1441|203\.0\.113|karoo\.example/);
  expect(await (await post('/charges', createChargeRequest())).json()).not.toHaveProperty('payerContext');
});

test.each([
  { address: 'not an address' },
  { email: 'none' },
  { browser: { userAgent: 'x'.repeat(2049) } },
  { browser: { screenWidth: -1 } },
  { browser: 'x' },
])('the bank refuses the payer’s context %j, which the platform must not send', async (payer) => {
  expect((await post('/charges', { ...createChargeRequest(), payer })).status).toBe(400);
});

test('a charge to the test card for late responses is executed immediately, and can be read before the response arrives', async () => {
  const charge = createChargeRequest('4000000000006009');
  const lateResponse = post('/charges', charge).catch(() => 'closed before the response');
  const readCharge = async (): Promise<{ charged?: boolean }> =>
    (await (await fetch(`${acquirer.url}/charges/${charge.key}`)).json()) as { charged?: boolean };
  while (!(await readCharge()).charged);
  expect(await Promise.race([lateResponse, readCharge()])).toMatchObject({ outcome: 'approved', charged: true });
});

test('a charge to the test card for lost responses is executed, and can be read although the bank sends no response', async () => {
  const charge = createChargeRequest('4000000000004087');
  await expect(post('/charges', charge)).rejects.toThrow('fetch failed');
  expect(await (await fetch(`${acquirer.url}/charges/${charge.key}`)).json()).toMatchObject({
    outcome: 'approved',
    charged: true,
  });
});

test('a reversal reverses a charge, and a reversal before the charge prevents the charge', async () => {
  const charge = createChargeRequest();
  await post('/charges', charge);
  for (let repeat = 0; repeat < 2; repeat++) {
    expect(await (await post(`/charges/${charge.key}/reversal`)).json()).toMatchObject({
      outcome: 'reversed',
      charged: true,
    });
  }
  const late = createChargeRequest();
  expect((await fetch(`${acquirer.url}/charges/${late.key}`)).status).toBe(404);
  expect(await (await post(`/charges/${late.key}/reversal`)).json()).toMatchObject({
    outcome: 'reversed',
    charged: false,
  });
  expect(await (await post('/charges', late)).json()).toMatchObject({ outcome: 'reversed', charged: false });
});

describe('a card with a required verification', () => {
  const returnUrl = 'https://pay.example/pay?sessionId=1&x="';
  const createChallengedCharge = async (): Promise<{ reference: string; url: string; key: string }> => {
    const charge = { ...createChargeRequest('4000000000003220'), returnUrl };
    const { outcome, charged, challenge, challengeUrl } = await (await post('/charges', charge)).json();
    expect([outcome, charged, challenge.state]).toEqual(['challenged', false, 'pending']);
    return { reference: challenge.reference, url: challengeUrl, key: charge.key };
  };
  const completeChallenge = (url: string, choice: string): Promise<Response> =>
    fetch(url, { method: 'POST', body: new URLSearchParams({ answer: choice }), redirect: 'manual' });
  const readChallengeState = async (url: string): Promise<unknown> => (await fetch(`${url}/state`)).json();
  const chargeWithChallenge = async (challengeReference: string): Promise<{ outcome: string; reason?: string }> => {
    const { cardNumber: _, ...charge } = createChargeRequest();
    return (await post('/charges', { ...charge, challengeReference })).json();
  };

  test.each([
    ['4242424242424242', { outcome: 'approved' }],
    ['4000000000000002', { outcome: 'declined', reason: 'declined' }],
  ])('is every card if the caller forces it: %s ends with %j after the challenge', async (cardNumber, outcome) => {
    const charge = { ...createChargeRequest(cardNumber), returnUrl, forceVerification: true };
    const { outcome: first, charged, challenge, challengeUrl } = await (await post('/charges', charge)).json();
    expect([first, charged]).toEqual(['challenged', false]);
    expect(await chargeWithChallenge(challenge.reference)).toMatchObject({ reason: 'not-verified' });
    await completeChallenge(challengeUrl, 'confirm');
    expect(await chargeWithChallenge(challenge.reference)).toMatchObject(outcome);
  });

  test('is charged only after the payer has confirmed the payment', async () => {
    const { reference, url } = await createChallengedCharge();
    expect(await chargeWithChallenge(reference)).toMatchObject({ outcome: 'declined', reason: 'not-verified' });
    const page = await fetch(url);
    const html = await page.text();
    const style = /<style>(.*?)<\/style>/s.exec(html)?.[1] ?? '';
    const styleHash = createHash('sha256').update(style).digest('base64');
    const { date: _date, 'content-length': _length, ...headers } = Object.fromEntries(page.headers);
    expect(headers).toEqual({
      connection: 'keep-alive',
      'keep-alive': expect.any(String) as string,
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': `default-src 'none'; style-src 'sha256-${styleHash}'; img-src data:; frame-ancestors 'none'; base-uri 'none'`,
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    });
    expect(html).toContain('ZAR 123.45');
    expect(await readChallengeState(url)).toEqual({ state: 'pending' });

    const response = await completeChallenge(url, 'confirm');
    expect([response.status, response.headers.get('location')]).toEqual([303, returnUrl]);
    expect(await readChallengeState(url)).toEqual({ state: 'passed' });
    expect(await chargeWithChallenge(reference)).toMatchObject({ outcome: 'approved', charged: true });
    // Only the payer's first choice is valid. The page links to the returnUrl, with its special characters escaped.
    await completeChallenge(url, 'refuse');
    expect(await readChallengeState(url)).toEqual({ state: 'passed' });
    expect(await (await fetch(url)).text()).toContain('sessionId=1&#38;x=&#34;');
  });

  test('is not charged if the payer refuses, or if the charge is reversed before the payer confirms', async () => {
    const refused = await createChallengedCharge();
    await completeChallenge(refused.url, 'refuse');
    expect(await readChallengeState(refused.url)).toEqual({ state: 'failed' });
    expect(await chargeWithChallenge(refused.reference)).toMatchObject({ outcome: 'declined', reason: 'not-verified' });

    const reversed = await createChallengedCharge();
    expect(await (await post(`/charges/${reversed.key}/reversal`)).json()).toMatchObject({ charged: false });
    await completeChallenge(reversed.url, 'confirm');
    expect(await readChallengeState(reversed.url)).toEqual({ state: 'failed' });
    expect(await chargeWithChallenge(reversed.reference)).toMatchObject({ outcome: 'declined' });
  });

  test('is not charged if the charge was reversed after the payer confirmed', async () => {
    const { reference, url, key } = await createChallengedCharge();
    await completeChallenge(url, 'confirm');
    await post(`/charges/${key}/reversal`);
    expect(await readChallengeState(url)).toEqual({ state: 'failed' });
    expect(await chargeWithChallenge(reference)).toMatchObject({ outcome: 'declined', reason: 'not-verified' });
  });

  test('has a challenge page that shows the state of the payment', async () => {
    const pageAfter = async (action: (challenge: { url: string; key: string }) => Promise<unknown>) => {
      const challenge = await createChallengedCharge();
      await action(challenge);
      return (await fetch(challenge.url)).text();
    };
    expect(await pageAfter(() => Promise.resolve())).toContain('Is this payment yours?');
    expect(await pageAfter(({ url }) => completeChallenge(url, 'confirm'))).toContain('This payment was confirmed.');
    expect(await pageAfter(({ url }) => completeChallenge(url, 'refuse'))).toContain('This payment was not confirmed.');
    // A choice of the payer after the reversal is ignored.
    for (const choice of ['confirm', undefined])
      expect(
        await pageAfter(async ({ url, key }) => {
          await post(`/charges/${key}/reversal`);
          if (choice !== undefined) await completeChallenge(url, choice);
        }),
      ).toContain('This payment was not confirmed.');
  });

  test('has a challenge page that refuses an unknown choice, and an unknown challenge', async () => {
    const { url } = await createChallengedCharge();
    const unclear = await completeChallenge(url, 'perhaps');
    expect([unclear.status, await unclear.json()]).toEqual([400, { message: 'confirm or refuse' }]);
    for (const path of ['/challenges/other', '/challenges/other/state'])
      expect((await fetch(acquirer.url + path)).status).toBe(404);
    expect((await completeChallenge(`${acquirer.url}/challenges/other`, 'confirm')).status).toBe(404);
  });
});

describe('live mode', () => {
  const cardRequest = { cardNumber: '4242424242424242' };
  const requestStatuses = async (): Promise<number[]> =>
    Promise.all([
      post('/charges', createChargeRequest(), LIVE_MODE_HEADERS).then(({ status }) => status),
      post('/cards', cardRequest, LIVE_MODE_HEADERS).then(({ status }) => status),
      post('/charges', createChargeRequest()).then(({ status }) => status),
    ]);
  const restart = async (env: Record<string, string>): Promise<void> => {
    await acquirer.close();
    acquirer = await startSimulatedAcquirer({ SVC_ACQUIRER_STORE: store, ...env });
  };

  test('is accepted for charges and cards only if it is configured, and never in production', async () => {
    expect(await requestStatuses()).toEqual([403, 403, 200]);
    await restart({ SVC_ACQUIRER_LIVE: 'simulated' });
    expect(await requestStatuses()).toEqual([200, 200, 200]);
    await restart({ SVC_ACQUIRER_LIVE: 'simulated', SVC_ENVIRONMENT: 'production' });
    expect(await requestStatuses()).toEqual([403, 403, 200]);
  });

  test('can be switched off, and its charges can still be read and reversed', async () => {
    await restart({ SVC_ACQUIRER_LIVE: 'simulated' });
    const charge = createChargeRequest();
    await post('/charges', charge, LIVE_MODE_HEADERS);
    await restart({});
    const response = await fetch(`${acquirer.url}/charges/${charge.key}`, { headers: LIVE_MODE_HEADERS });
    expect(await response.json()).toMatchObject({ outcome: 'approved', mode: 'live' });
    const reversed = await post(`/charges/${charge.key}/reversal`, undefined, LIVE_MODE_HEADERS);
    expect(await reversed.json()).toMatchObject({ outcome: 'reversed', charged: true, mode: 'live' });
  });
});

test('the bank still has its records after a restart, even if the last line of the file was cut off', async () => {
  const charge = createChargeRequest();
  await post('/charges', charge);
  await acquirer.close();
  writeFileSync(store, '{"key":"half', { flag: 'a' });
  acquirer = await startSimulatedAcquirer({ SVC_ACQUIRER_STORE: store });
  expect((await fetch(`${acquirer.url}/charges/${charge.key}`)).status).toBe(200);
  const another = createChargeRequest();
  await post('/charges', another);
  expect(storedLines(another.key)).toHaveLength(1);
});

test.each([{ amount: 0 }, { amount: 1.5 }, { cardNumber: 'x' }, { key: '' }])(
  'a charge with %j is refused',
  async (invalidFields) => {
    const refused = await post('/charges', { ...createChargeRequest(), ...invalidFields });
    const message = expect.stringMatching(new RegExp(`^body/${Object.keys(invalidFields)[0]} must `));
    expect([refused.status, await refused.json()]).toEqual([400, expect.objectContaining({ message })]);
  },
);
