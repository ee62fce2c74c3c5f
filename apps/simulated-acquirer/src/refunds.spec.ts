import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningAcquirer, startSimulatedAcquirer } from './simulated-acquirer.js';
import { STATEMENT_PAGE_LINES } from './statement.js';

const folder = mkdtempSync(join(tmpdir(), 'svc-acquirer-'));
const CARDS = {
  approved: '4242424242424242',
  declined: '4000000000000002',
  refundDeclined: '4000000000005126',
  refundPending: '4000000000007726',
  refundRespondsLate: '4000000000007247',
  refundDropsTheResponse: '4000000000007262',
};
let now: Date;
let acquirer: RunningAcquirer;
const restart = async (): Promise<void> => {
  await acquirer?.close();
  acquirer = await startSimulatedAcquirer({ SVC_ACQUIRER_STORE: join(folder, 'charges.jsonl') }, () => now);
};
beforeEach(async () => {
  now = new Date('2026-03-01T10:00:00.000Z');
  await restart();
});
afterEach(() => acquirer.close());
afterAll(() => rmSync(folder, { recursive: true }));

let nextKeyNumber = 0;
type ResponseBody = Record<string, unknown> & { status: number };
async function call(method: string, path: string, body?: object, account = 'shop-1'): Promise<ResponseBody> {
  const response = await fetch(acquirer.url + path, {
    method,
    headers: { 'acquirer-account': account, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  return { status: response.status, ...((await response.json()) as object) };
}
/** Creates a charge of 1 000 cents, and returns its key. */
async function createCharge(cardNumber = CARDS.approved, account = 'shop-1'): Promise<string> {
  const key = `charge-${nextKeyNumber++}`;
  const terms = { key, paymentReference: `REF-${key}`, amount: 1_000, currency: 'ZAR', cardNumber };
  await call('POST', '/charges', terms, account);
  return key;
}
const requestRefund = (
  chargeKey: string,
  amount: number,
  key = `refund-${nextKeyNumber++}`,
  account?: string,
): Promise<ResponseBody> => call('POST', '/refunds', { key, chargeKey, amount }, account);
const SUCCEEDED = { status: 200, outcome: 'succeeded' };

describe('a refund', () => {
  test('may be partial, but not above the remaining amount of the charge, even after a restart', async () => {
    const charge = await createCharge();
    expect(await requestRefund(charge, 400)).toMatchObject(SUCCEEDED);
    await restart();
    expect(await requestRefund(charge, 601)).toMatchObject({ outcome: 'declined', reason: 'exceeds-charge' });
    expect(await requestRefund(charge, 600)).toMatchObject({
      ...SUCCEEDED,
      currency: 'ZAR',
      paymentReference: `REF-${charge}`,
    });
    expect(await requestRefund(charge, 1)).toMatchObject({ outcome: 'declined', reason: 'exceeds-charge' });
  });

  test('is executed once for each key, even after a restart', async () => {
    const charge = await createCharge();
    const [first, second] = await Promise.all([
      requestRefund(charge, 700, 'twice'),
      requestRefund(charge, 700, 'twice'),
    ]);
    await restart();
    expect([second, await requestRefund(charge, 700, 'twice'), await call('GET', '/refunds/twice')]).toEqual([
      first,
      first,
      first,
    ]);
    expect(await requestRefund(charge, 300)).toMatchObject(SUCCEEDED);
  });

  test('is refused if its key was used for another amount or charge', async () => {
    const [charge, other] = [await createCharge(), await createCharge()];
    await requestRefund(charge, 100, 'used');
    expect((await requestRefund(charge, 101, 'used')).status).toBe(409);
    expect((await requestRefund(other, 100, 'used')).status).toBe(409);
  });

  test('is declined if its charge is unknown, declined or reversed, and can be read as declined', async () => {
    const declined = await createCharge(CARDS.declined);
    const reversed = await createCharge();
    await call('POST', `/charges/${reversed}/reversal`);
    for (const charge of [declined, reversed, 'nothing'])
      expect(await requestRefund(charge, 1)).toMatchObject({ outcome: 'declined', reason: 'not-charged' });
    await requestRefund('comes-late', 1, 'before-the-charge');
    expect(await call('GET', '/refunds/before-the-charge')).toMatchObject({ outcome: 'declined' });
  });

  test('is declined if its charge was made to the card refundDeclined', async () => {
    const charge = await createCharge(CARDS.refundDeclined);
    expect(await requestRefund(charge, 1)).toMatchObject({ outcome: 'declined', reason: 'refused' });
  });

  test('reserves its amount, and succeeds at the second poll, if its charge was made to the card refundPending', async () => {
    const charge = await createCharge(CARDS.refundPending);
    expect(await requestRefund(charge, 900, 'later')).toMatchObject({ outcome: 'pending' });
    expect(await requestRefund(charge, 101)).toMatchObject({ outcome: 'declined', reason: 'exceeds-charge' });
    expect(await call('GET', '/refunds/later')).toMatchObject({ outcome: 'pending' });
    await restart();
    now = new Date('2026-03-02T00:00:00.000Z');
    expect(await call('GET', '/refunds/later')).toMatchObject({ outcome: 'succeeded', at: now.toISOString() });
    expect(await call('GET', '/refunds/later')).toMatchObject({ outcome: 'succeeded', polls: 2 });
    expect(await requestRefund(charge, 100)).toMatchObject({ outcome: 'pending' });
  });

  test('is executed without a response if its charge was made to the card refundDropsTheResponse', async () => {
    const charge = await createCharge(CARDS.refundDropsTheResponse);
    await expect(requestRefund(charge, 250, 'lost')).rejects.toThrow('fetch failed');
    expect(await call('GET', '/refunds/lost')).toMatchObject({ ...SUCCEEDED, amount: 250 });
  });

  test('is executed immediately with a late response if its charge was made to the card refundRespondsLate', async () => {
    const charge = await createCharge(CARDS.refundRespondsLate);
    const late = requestRefund(charge, 250, 'late').catch(() => 'closed before the response');
    while ((await call('GET', '/refunds/late')).status !== 200);
    expect(await Promise.race([late, call('GET', '/refunds/late')])).toMatchObject(SUCCEEDED);
  });

  test.each([{ amount: 0 }, { amount: 1.5 }, { key: '' }, { chargeKey: undefined }])(
    'is refused with 400 if its body contains %j',
    async (invalidFields) => {
      const body = { key: 'bad', chargeKey: await createCharge(), amount: 1, ...invalidFields };
      expect((await call('POST', '/refunds', body)).status).toBe(400);
      expect((await call('GET', '/refunds/bad')).status).toBe(404);
    },
  );
});

test('an account cannot read, reverse or refund a charge of another account, and cannot read its refunds', async () => {
  const charge = await createCharge();
  await requestRefund(charge, 100, 'of-shop-1');
  const callAsShop2 = (method: string, path: string) => call(method, path, undefined, 'shop-2');
  expect((await callAsShop2('GET', `/charges/${charge}`)).status).toBe(404);
  expect((await callAsShop2('GET', '/refunds/of-shop-1')).status).toBe(404);
  expect((await callAsShop2('POST', `/charges/${charge}/reversal`)).status).toBe(409);
  expect(await requestRefund(charge, 100, 'of-shop-2', 'shop-2')).toMatchObject({ reason: 'not-charged' });
  expect((await requestRefund(charge, 100, 'of-shop-1', 'shop-2')).status).toBe(409);
  expect(await call('GET', `/charges/${charge}`)).toMatchObject({ outcome: 'approved' });
});

test('a call in live mode cannot read a charge or refund of test mode', async () => {
  const charge = await createCharge();
  await requestRefund(charge, 100, 'of-test-mode');
  const headers = { 'acquirer-account': 'shop-1', 'acquirer-mode': 'live' };
  for (const path of [`/charges/${charge}`, '/refunds/of-test-mode'])
    expect((await fetch(acquirer.url + path, { headers })).status).toBe(404);
});

describe('the statement of a day', () => {
  const readStatement = async (day: string, account: string): Promise<unknown> =>
    (await call('GET', `/statements/${day}`, undefined, account))['lines'];

  test('lists the movements of the account on that day in order, even after a restart', async () => {
    const account = 'statement-1';
    const [first, second] = [await createCharge(CARDS.approved, account), await createCharge(CARDS.approved, account)];
    await createCharge(CARDS.declined, account);
    await createCharge(CARDS.approved, 'statement-2');
    await requestRefund(first, 400, 'on-statement', account);
    await requestRefund(first, 5_000, 'too-much', account);
    now = new Date('2026-03-02T00:00:00.000Z');
    await call('POST', `/charges/${first}/reversal`, undefined, account);
    await call('POST', `/charges/never/reversal`, undefined, account);
    const charged = (key: string) => ({ kind: 'charge', key, amount: 1_000, at: '2026-03-01T10:00:00.000Z' });
    const days = async () => Promise.all(['2026-03-01', '2026-03-02'].map((day) => readStatement(day, account)));
    const statements = await days();
    expect(statements).toMatchObject([
      [charged(first), charged(second), { kind: 'refund', key: 'on-statement', amount: 400, currency: 'ZAR' }],
      [{ kind: 'reversal', key: first, amount: 600, at: '2026-03-02T00:00:00.000Z' }],
    ]);
    await restart();
    expect(await days()).toEqual(statements);
  });

  test('lists a pending refund on the day on which it succeeded', async () => {
    const account = 'statement-3';
    const charge = await createCharge(CARDS.refundPending, account);
    await requestRefund(charge, 100, 'over-night', account);
    now = new Date('2026-03-02T00:00:00.000Z');
    for (let poll = 0; poll < 3; poll++) await call('GET', '/refunds/over-night', undefined, account);
    expect(await readStatement('2026-03-01', account)).toHaveLength(1);
    expect(await readStatement('2026-03-02', account)).toMatchObject([{ kind: 'refund', key: 'over-night' }]);
  });

  test('is paginated, and contains only movements of the requested mode', async () => {
    const account = 'statement-4';
    for (let charges = 0; charges <= STATEMENT_PAGE_LINES; charges++) await createCharge(CARDS.approved, account);
    const page = (after: number) => call('GET', `/statements/2026-03-01?after=${after}`, undefined, account);
    const [first, last] = [await page(0), await page(STATEMENT_PAGE_LINES)];
    expect(first).toMatchObject({ lines: { length: STATEMENT_PAGE_LINES }, next: STATEMENT_PAGE_LINES });
    expect(last['lines']).toHaveLength(1);
    expect(last).not.toHaveProperty('next');
    const headers = { 'acquirer-account': account, 'acquirer-mode': 'live' };
    const live = await fetch(`${acquirer.url}/statements/2026-03-01`, { headers });
    expect(await live.json()).toEqual({ lines: [] });
  });

  test.each(['yesterday', '2026-13-01', '20260301'])('is refused with 400 if the day is %j', async (day) => {
    expect((await call('GET', `/statements/${day}`)).status).toBe(400);
  });
});
