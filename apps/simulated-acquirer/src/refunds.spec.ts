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
  refundAnswersLate: '4000000000007247',
  refundDropsTheAnswer: '4000000000007262',
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

let next = 0;
type Answer = Record<string, unknown> & { status: number };
async function call(method: string, path: string, body?: object, account = 'shop-1'): Promise<Answer> {
  const response = await fetch(acquirer.url + path, {
    method,
    headers: { 'acquirer-account': account, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  return { status: response.status, ...((await response.json()) as object) };
}
/** Makes a charge and returns its key. */
async function aCharge(cardNumber = CARDS.approved, account = 'shop-1'): Promise<string> {
  const key = `charge-${next++}`;
  const terms = { key, paymentReference: `REF-${key}`, amount: 1_000, currency: 'ZAR', cardNumber };
  await call('POST', '/charges', terms, account);
  return key;
}
const refund = (chargeKey: string, amount: number, key = `refund-${next++}`, account?: string): Promise<Answer> =>
  call('POST', '/refunds', { key, chargeKey, amount }, account);
const SUCCEEDED = { status: 200, outcome: 'succeeded' };

describe('a refund', () => {
  test('may be partial and repeated, never above the charge, and the bank remembers it after a restart', async () => {
    const charge = await aCharge();
    expect(await refund(charge, 400)).toMatchObject(SUCCEEDED);
    await restart();
    expect(await refund(charge, 601)).toMatchObject({ outcome: 'declined', reason: 'exceeds-charge' });
    expect(await refund(charge, 600)).toMatchObject({
      ...SUCCEEDED,
      currency: 'ZAR',
      paymentReference: `REF-${charge}`,
    });
    expect(await refund(charge, 1)).toMatchObject({ outcome: 'declined', reason: 'exceeds-charge' });
  });

  test('is made once for each key, also after a restart', async () => {
    const charge = await aCharge();
    const [first, second] = await Promise.all([refund(charge, 700, 'twice'), refund(charge, 700, 'twice')]);
    await restart();
    expect([second, await refund(charge, 700, 'twice'), await call('GET', '/refunds/twice')]).toEqual([
      first,
      first,
      first,
    ]);
    expect(await refund(charge, 300)).toMatchObject(SUCCEEDED);
  });

  test('is refused if its key was used for another amount or charge', async () => {
    const [charge, other] = [await aCharge(), await aCharge()];
    await refund(charge, 100, 'used');
    expect((await refund(charge, 101, 'used')).status).toBe(409);
    expect((await refund(other, 100, 'used')).status).toBe(409);
  });

  test('without a charge, or of a reversed charge, is declined for ever', async () => {
    const declined = await aCharge(CARDS.declined);
    const reversed = await aCharge();
    await call('POST', `/charges/${reversed}/reversal`);
    for (const charge of [declined, reversed, 'nothing'])
      expect(await refund(charge, 1)).toMatchObject({ outcome: 'declined', reason: 'not-charged' });
    await refund('comes-late', 1, 'before-the-charge');
    expect(await call('GET', '/refunds/before-the-charge')).toMatchObject({ outcome: 'declined' });
  });

  test('is declined by the card', async () => {
    const charge = await aCharge(CARDS.refundDeclined);
    expect(await refund(charge, 1)).toMatchObject({ outcome: 'declined', reason: 'refused' });
  });

  test('is pending, reserves its amount, and succeeds at the second poll', async () => {
    const charge = await aCharge(CARDS.refundPending);
    expect(await refund(charge, 900, 'later')).toMatchObject({ outcome: 'pending' });
    expect(await refund(charge, 101)).toMatchObject({ outcome: 'declined', reason: 'exceeds-charge' });
    expect(await call('GET', '/refunds/later')).toMatchObject({ outcome: 'pending' });
    await restart();
    now = new Date('2026-03-02T00:00:00.000Z');
    expect(await call('GET', '/refunds/later')).toMatchObject({ outcome: 'succeeded', at: now.toISOString() });
    expect(await call('GET', '/refunds/later')).toMatchObject({ outcome: 'succeeded', asked: 2 });
    expect(await refund(charge, 100)).toMatchObject({ outcome: 'pending' });
  });

  test('is made although the response is lost', async () => {
    const charge = await aCharge(CARDS.refundDropsTheAnswer);
    await expect(refund(charge, 250, 'lost')).rejects.toThrow('fetch failed');
    expect(await call('GET', '/refunds/lost')).toMatchObject({ ...SUCCEEDED, amount: 250 });
  });

  test('is made at once although the response is late', async () => {
    const charge = await aCharge(CARDS.refundAnswersLate);
    const late = refund(charge, 250, 'late').catch(() => 'closed before it was answered');
    while ((await call('GET', '/refunds/late')).status !== 200);
    expect(await Promise.race([late, call('GET', '/refunds/late')])).toMatchObject(SUCCEEDED);
  });

  test.each([{ amount: 0 }, { amount: 1.5 }, { key: '' }, { chargeKey: undefined }])(
    'is refused with %j',
    async (bad) => {
      const body = { key: 'bad', chargeKey: await aCharge(), amount: 1, ...bad };
      expect((await call('POST', '/refunds', body)).status).toBe(400);
      expect((await call('GET', '/refunds/bad')).status).toBe(404);
    },
  );
});

test('another account finds neither charge nor refund, and can neither reverse nor refund', async () => {
  const charge = await aCharge();
  await refund(charge, 100, 'of-shop-1');
  const asOther = (method: string, path: string) => call(method, path, undefined, 'shop-2');
  expect((await asOther('GET', `/charges/${charge}`)).status).toBe(404);
  expect((await asOther('GET', '/refunds/of-shop-1')).status).toBe(404);
  expect((await asOther('POST', `/charges/${charge}/reversal`)).status).toBe(409);
  expect(await refund(charge, 100, 'of-shop-2', 'shop-2')).toMatchObject({ reason: 'not-charged' });
  expect((await refund(charge, 100, 'of-shop-1', 'shop-2')).status).toBe(409);
  expect(await call('GET', `/charges/${charge}`)).toMatchObject({ outcome: 'approved' });
});

test('a call of the other mode finds neither charge nor refund', async () => {
  const charge = await aCharge();
  await refund(charge, 100, 'of-test-mode');
  const headers = { 'acquirer-account': 'shop-1', 'acquirer-mode': 'live' };
  for (const path of [`/charges/${charge}`, '/refunds/of-test-mode'])
    expect((await fetch(acquirer.url + path, { headers })).status).toBe(404);
});

describe('the statement of a day', () => {
  const linesOf = async (day: string, account: string): Promise<unknown> =>
    (await call('GET', `/statements/${day}`, undefined, account))['lines'];

  test('lists the movements of the account on that day in order, also after a restart', async () => {
    const account = 'statement-1';
    const [first, second] = [await aCharge(CARDS.approved, account), await aCharge(CARDS.approved, account)];
    await aCharge(CARDS.declined, account);
    await aCharge(CARDS.approved, 'statement-2');
    await refund(first, 400, 'on-statement', account);
    await refund(first, 5_000, 'too-much', account);
    now = new Date('2026-03-02T00:00:00.000Z');
    await call('POST', `/charges/${first}/reversal`, undefined, account);
    await call('POST', `/charges/never/reversal`, undefined, account);
    const charged = (key: string) => ({ kind: 'charge', key, amount: 1_000, at: '2026-03-01T10:00:00.000Z' });
    const days = async () => Promise.all(['2026-03-01', '2026-03-02'].map((day) => linesOf(day, account)));
    const before = await days();
    expect(before).toMatchObject([
      [charged(first), charged(second), { kind: 'refund', key: 'on-statement', amount: 400, currency: 'ZAR' }],
      [{ kind: 'reversal', key: first, amount: 600, at: '2026-03-02T00:00:00.000Z' }],
    ]);
    await restart();
    expect(await days()).toEqual(before);
  });

  test('lists a pending refund on the day on which it succeeded', async () => {
    const account = 'statement-3';
    const charge = await aCharge(CARDS.refundPending, account);
    await refund(charge, 100, 'over-night', account);
    now = new Date('2026-03-02T00:00:00.000Z');
    for (let asked = 0; asked < 3; asked++) await call('GET', '/refunds/over-night', undefined, account);
    expect(await linesOf('2026-03-01', account)).toHaveLength(1);
    expect(await linesOf('2026-03-02', account)).toMatchObject([{ kind: 'refund', key: 'over-night' }]);
  });

  test('is paginated, and each mode has its own', async () => {
    const account = 'statement-4';
    for (let charges = 0; charges <= STATEMENT_PAGE_LINES; charges++) await aCharge(CARDS.approved, account);
    const page = (after: number) => call('GET', `/statements/2026-03-01?after=${after}`, undefined, account);
    const [first, last] = [await page(0), await page(STATEMENT_PAGE_LINES)];
    expect(first).toMatchObject({ lines: { length: STATEMENT_PAGE_LINES }, next: STATEMENT_PAGE_LINES });
    expect(last['lines']).toHaveLength(1);
    expect(last).not.toHaveProperty('next');
    const headers = { 'acquirer-account': account, 'acquirer-mode': 'live' };
    const live = await fetch(`${acquirer.url}/statements/2026-03-01`, { headers });
    expect(await live.json()).toEqual({ lines: [] });
  });

  test.each(['yesterday', '2026-13-01', '20260301'])('of %j is refused', async (day) => {
    expect((await call('GET', `/statements/${day}`)).status).toBe(400);
  });
});
