/** The limit of a card on the payment page, over all merchants (P11). */
import { randomUUID } from 'node:crypto';
import { PaymentFailedV1, PaymentProcessingV1 } from '@svc/contracts';
import { buildPayable } from '../../test/builders.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import {
  answerCharges,
  APPROVED,
  DECLINED,
  LIMITS_ON,
  newCardNumber,
  payWith,
  readCounters,
} from '../../test/velocity/tested-cards.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let processor: Processor;
beforeAll(async () => {
  processor = await startProcessor(LIMITS_ON);
});
afterAll(() => processor.stop());
afterEach(async () => {
  jest.restoreAllMocks();
  await processor.superuser.query('TRUNCATE velocity_counters');
});

async function decline(card: string, times: number): Promise<void> {
  const charges = answerCharges(processor, DECLINED);
  for (let nth = 1; nth <= times; nth++) expect(await payWith(processor, card)).toBe('failed');
  charges.mockRestore();
}

test('a refused attempt makes no payment and no event, reserves nothing, and is not one of the five payments of the session', async () => {
  const card = newCardNumber();
  await decline(card, 4);
  const payable = buildPayable({ expiresAt: processor.clock.later(60_000).toISOString(), maxPayments: 1 });
  const events = async (): Promise<number> =>
    (await processor.published(PaymentProcessingV1)).length + (await processor.published(PaymentFailedV1)).length;
  const before = await events();
  for (let nth = 1; nth <= 3; nth++)
    await expect(processor.pay(payable, { card, reference: randomUUID() })).rejects.toMatchObject({
      code: 'card.too-many-attempts',
    });
  expect(await events()).toBe(before);
  expect(await processor.findPayable(payable.payableId)).toEqual({});
  answerCharges(processor, APPROVED);
  expect((await processor.pay(payable, { card: newCardNumber() })).state).toBe('success');
});

test('a payment of a session that is paid is not counted', async () => {
  const payable = buildPayable({ expiresAt: processor.clock.later(60_000).toISOString() });
  answerCharges(processor, APPROVED);
  await processor.pay(payable, { card: newCardNumber() });
  for (const paymentNumber of [1, 2])
    await expect(processor.pay(payable, { card: newCardNumber(), paymentNumber })).rejects.toMatchObject({
      code: expect.stringMatching(/^(payable\.paid|payment\.in-progress|request\.idempotency-conflict)$/) as string,
    });
  expect(await readCounters(processor)).toEqual([]);
});

test('a retry of a payment returns the payment, also when the card is closed meanwhile', async () => {
  const card = newCardNumber();
  const payable = buildPayable({ expiresAt: processor.clock.later(60_000).toISOString() });
  const reference = randomUUID();
  answerCharges(processor, DECLINED);
  const payment = await processor.pay(payable, { card, reference });
  await decline(card, 3);
  expect(await processor.pay(payable, { card, reference })).toEqual(payment);
});

test('the fifth attempt after four declines within 24 hours never reaches the acquirer, at any merchant', async () => {
  const card = newCardNumber();
  await decline(card, 4);
  const charges = answerCharges(processor, APPROVED);
  expect(await payWith(processor, card)).toBe('card.too-many-attempts');
  expect(await payWith(processor, card, { merchantId: 1002, siteId: 5002 })).toBe('card.too-many-attempts');
  expect(charges).not.toHaveBeenCalled();
  expect(await payWith(processor, newCardNumber())).toBe('success');
});

test('after three declines the card can still pay', async () => {
  const card = newCardNumber();
  await decline(card, 3);
  answerCharges(processor, APPROVED);
  expect(await payWith(processor, card)).toBe('success');
});

test('the card is open again when the first of its declines is 24 hours old', async () => {
  const card = newCardNumber();
  await decline(card, 1);
  processor.clock.advance(HOUR_MS);
  await decline(card, 3);
  answerCharges(processor, DECLINED);
  processor.clock.advance(DAY_MS - HOUR_MS - 1);
  expect(await payWith(processor, card)).toBe('card.too-many-attempts');
  processor.clock.advance(1);
  expect(await payWith(processor, card)).toBe('failed');
  expect(await payWith(processor, card)).toBe('card.too-many-attempts');
});

test('the tenth decline within 30 days closes the card, also after approvals', async () => {
  const card = newCardNumber();
  for (const times of [3, 3, 3]) {
    await decline(card, times);
    answerCharges(processor, APPROVED);
    expect(await payWith(processor, card)).toBe('success');
    processor.clock.advance(DAY_MS);
  }
  await decline(card, 1);
  const charges = answerCharges(processor, APPROVED);
  expect(await payWith(processor, card)).toBe('card.too-many-attempts');
  processor.clock.advance(27 * DAY_MS - 1);
  expect(await payWith(processor, card)).toBe('card.too-many-attempts');
  expect(charges).not.toHaveBeenCalled();
  processor.clock.advance(1);
  expect(await payWith(processor, card)).toBe('success');
});

test("an approval resets the day's count", async () => {
  const card = newCardNumber();
  await decline(card, 3);
  answerCharges(processor, APPROVED);
  expect(await payWith(processor, card)).toBe('success');
  processor.clock.advance(1);
  await decline(card, 4);
  expect(await payWith(processor, card)).toBe('card.too-many-attempts');
});

test('a decline whose reason says that the card must not be tried again closes the card for 30 days', async () => {
  const card = newCardNumber();
  answerCharges(processor, { ...DECLINED, mustNotRetry: true });
  expect(await payWith(processor, card)).toBe('failed');
  const charges = answerCharges(processor, APPROVED);
  processor.clock.advance(30 * DAY_MS - 1);
  expect(await payWith(processor, card)).toBe('card.too-many-attempts');
  expect(charges).not.toHaveBeenCalled();
  processor.clock.advance(1);
  expect(await payWith(processor, card)).toBe('success');
});

test('attempts in flight count as declines', async () => {
  const card = newCardNumber();
  const release = Promise.withResolvers<void>();
  const charges = answerCharges(processor, async () => {
    await release.promise;
    return APPROVED;
  });
  const results = Array.from({ length: 12 }, () => payWith(processor, card));
  const refused = await Promise.race([Promise.all(results), refusalsOf(results, 8)]);
  expect(refused).toHaveLength(8);
  expect(charges).toHaveBeenCalledTimes(4);
  release.resolve();
  expect((await Promise.all(results)).filter((result) => result === 'success')).toHaveLength(4);
  expect(await readCounters(processor)).toEqual([]);
});

/** Resolves when this number of payments was refused. */
function refusalsOf(results: readonly Promise<string>[], count: number): Promise<string[]> {
  const refusals: string[] = [];
  return new Promise((resolve) => {
    for (const result of results)
      void result.then((code) => {
        if (code === 'card.too-many-attempts') refusals.push(code);
        if (refusals.length === count) resolve(refusals);
      });
  });
}

test('an honest payment leaves no counter', async () => {
  expect(await payWith(processor, newCardNumber(), { address: '192.0.2.7' })).toBe('success');
  expect(await readCounters(processor)).toEqual([]);
});

test('a decline counts for the card, its range, the address and the site; the same card again only for itself', async () => {
  const card = newCardNumber();
  answerCharges(processor, DECLINED);
  await payWith(processor, card, { address: '192.0.2.7' });
  await payWith(processor, card, { address: '192.0.2.7' });
  expect(await readCounters(processor)).toEqual([
    { scope: 'address', inFlight: 0, declines: 1 },
    { scope: 'card', inFlight: 0, declines: 2 },
    { scope: 'range', inFlight: 0, declines: 1 },
    { scope: 'site', inFlight: 0, declines: 1 },
  ]);
});

test('a declined card counts again at another site and for another address, and once a day for each of them', async () => {
  const card = newCardNumber();
  const counts = async () => (await readCounters(processor)).map(({ scope, declines }) => `${scope} ${declines}`);
  answerCharges(processor, DECLINED);
  await payWith(processor, card, { address: '192.0.2.7' });
  await payWith(processor, card, { address: '192.0.2.8', merchantId: 1002, siteId: 5002 });
  expect(await counts()).toEqual([...['address 1', 'address 1', 'card 2', 'range 1', 'range 1', 'site 1', 'site 1']]);
  processor.clock.advance(DAY_MS - 1);
  await payWith(processor, card, { address: '192.0.2.7' });
  expect(await counts()).toEqual(expect.arrayContaining(['site 1', 'site 1']));
  expect(await counts()).not.toContain('site 2');
  processor.clock.advance(1);
  await payWith(processor, card, { address: '192.0.2.7' });
  expect(await counts()).toContain('site 2');
});

test('approvals are not lost if the next decline is of a card that counts already', async () => {
  const card = newCardNumber('53000003');
  const newCard = () => newCardNumber('53000003');
  answerCharges(processor, DECLINED);
  await payWith(processor, card);
  answerCharges(processor, APPROVED);
  for (let nth = 1; nth <= 12; nth++) await payWith(processor, newCard());
  answerCharges(processor, DECLINED);
  await payWith(processor, card);
  for (let nth = 1; nth <= 11; nth++) expect(await payWith(processor, newCard())).toBe('failed');
  expect(await payWith(processor, newCard())).toBe('card.too-many-attempts');
});

test('an attempt that never reached the acquirer counts for nothing', async () => {
  answerCharges(processor, { kind: 'notAttempted' });
  expect(await payWith(processor, newCardNumber())).toBe('failed');
  expect(await readCounters(processor)).toEqual([]);
});

test('an attempt that crashed between acceptance and settlement counts until the recovery ends it', async () => {
  const card = newCardNumber();
  answerCharges(processor, { kind: 'unknown' });
  for (let nth = 1; nth <= 4; nth++) expect(await payWith(processor, card)).toBe('processing');
  expect(await payWith(processor, card)).toBe('card.too-many-attempts');
  jest.spyOn(processor.acquirer, 'getChargeStatus').mockResolvedValue({ kind: 'neverCharged' });
  processor.clock.advance(10_000);
  expect(await processor.recoverAttempts()).toBe(4);
  expect(await readCounters(processor)).toEqual([]);
  answerCharges(processor, APPROVED);
  expect(await payWith(processor, card)).toBe('success');
});

test('an attempt that a recovery finds declined counts as a decline', async () => {
  const card = newCardNumber();
  await decline(card, 3);
  answerCharges(processor, { kind: 'unknown' });
  expect(await payWith(processor, card)).toBe('processing');
  jest.spyOn(processor.acquirer, 'getChargeStatus').mockResolvedValue(DECLINED);
  processor.clock.advance(10_000);
  await processor.recoverAttempts();
  expect(await readCounters(processor)).toContainEqual({ scope: 'card', inFlight: 0, declines: 4 });
  expect(await payWith(processor, card)).toBe('card.too-many-attempts');
});

test('while the limits are off, nothing is counted and nothing refused', async () => {
  const off = await startProcessor();
  try {
    const card = newCardNumber();
    answerCharges(off, DECLINED);
    for (let nth = 1; nth <= 12; nth++) expect(await payWith(off, card)).toBe('failed');
    expect(await readCounters(off)).toEqual([]);
  } finally {
    await off.stop();
  }
});

describe('while the key of the hashes is rotated', () => {
  const [oldKey, newKey] = ['A'.repeat(43), `${'B'.repeat(42)}A`];

  test('declines that were counted with the old key count, and an approval resets them', async () => {
    const card = newCardNumber();
    const before = await startProcessor({ ...LIMITS_ON, SVC_CARD_FINGERPRINT_KEYS: oldKey });
    try {
      answerCharges(before, DECLINED);
      for (let nth = 1; nth <= 3; nth++) expect(await payWith(before, card)).toBe('failed');
      const counters = await before.superuser.query<Record<string, unknown>>('SELECT * FROM velocity_counters');
      const rotated = await startProcessor({ ...LIMITS_ON, SVC_CARD_FINGERPRINT_KEYS: `${newKey},${oldKey}` });
      try {
        for (const row of counters.rows.filter(({ counter_key: key }) => String(key).startsWith('card:')))
          await rotated.superuser.query(
            'INSERT INTO velocity_counters SELECT * FROM jsonb_populate_record(NULL::velocity_counters, $1)',
            [JSON.stringify(row)],
          );
        const charges = answerCharges(rotated, DECLINED);
        expect(await payWith(rotated, card)).toBe('failed');
        expect(await payWith(rotated, card)).toBe('card.too-many-attempts');
        rotated.clock.advance(DAY_MS);
        charges.mockRestore();
        answerCharges(rotated, APPROVED);
        expect(await payWith(rotated, card)).toBe('success');
        const cards = (await readCounters(rotated)).filter(({ scope }) => scope === 'card');
        expect(cards.map(({ declines }) => declines)).toEqual([1, 3]);
      } finally {
        await rotated.stop();
      }
    } finally {
      await before.stop();
    }
  });
});
