/** Storing a card is limited like a payment, and a stored card has the counters of its number (P11). */
import type { PayableDescriptor } from '@svc/contracts';
import {
  buildPlainCard,
  createMerchant,
  createPartner,
  openInvoice,
  type PartnerUnderTest,
} from '../../test/partner.js';
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
import { Acquirers } from '../acquirers/acquirers.js';
import { CardFingerprints } from './card-fingerprints.js';

const REFUSAL = { status: 422, body: { code: 'card.too-many-attempts', errors: [{ errorReference: '18' }] } };

let processor: Processor;
let partner: PartnerUnderTest;
let merchant: { merchantId: number; siteId: number };
beforeAll(async () => {
  processor = await startProcessor(LIMITS_ON);
  merchant = await createMerchant(processor);
});
afterAll(() => processor.stop());
beforeEach(async () => {
  partner = await createPartner(processor);
});
afterEach(async () => {
  jest.restoreAllMocks();
  await processor.superuser.query('TRUNCATE velocity_counters');
});

const store = (cardNumber: string, payer: Pick<PartnerUnderTest, 'call'> = partner) =>
  payer.call('POST', '/v1/cards', { ...buildPlainCard({ cardNumber }), cvv: undefined });
const openPayable = (): Promise<PayableDescriptor> =>
  openInvoice(processor, { ...merchant, expiresAt: processor.clock.later(60_000).toISOString() });
const pay = async (card: Record<string, unknown>) => partner.pay(await openPayable(), { paymentMethod: { card } });

describe('storing a card', () => {
  const answerStoring = (result: 'invalid' | 'unknown') =>
    jest.spyOn(processor.service.app.get(Acquirers).vault, 'storeCard').mockResolvedValue(result);

  test('is refused after four declines of its number, before the acquirer is called', async () => {
    const cardNumber = newCardNumber();
    answerCharges(processor, DECLINED);
    for (let nth = 1; nth <= 4; nth++) await payWith(processor, cardNumber);
    const vault = answerStoring('unknown');
    const { status, body } = await store(cardNumber);
    expect({ status, body }).toMatchObject(REFUSAL);
    expect(JSON.stringify(body)).not.toMatch(/decline|limit|range|address/i);
    expect(vault).not.toHaveBeenCalled();
    expect(
      await processor.dataSource.query('SELECT FROM cards WHERE organisation_id = $1', [partner.organisationId]),
    ).toEqual([]);
  });

  test('counts as a decline if the acquirer rejects the card', async () => {
    const cardNumber = newCardNumber();
    const vault = answerStoring('invalid');
    for (let nth = 1; nth <= 4; nth++) expect((await store(cardNumber)).status).toBe(402);
    expect(await readCounters(processor)).toEqual([
      { scope: 'card', inFlight: 0, declines: 4 },
      { scope: 'organisation', inFlight: 0, declines: 1 },
      { scope: 'range', inFlight: 0, declines: 1 },
    ]);
    expect(await store(cardNumber)).toMatchObject(REFUSAL);
    expect(vault).toHaveBeenCalledTimes(4);
    expect(await payWith(processor, cardNumber)).toBe('card.too-many-attempts');
  });

  test('is refused after ten rejected cards of its range, and after fifty of the partner', async () => {
    const vault = answerStoring('invalid');
    for (let nth = 1; nth <= 10; nth++) expect((await store(newCardNumber('52000009'))).status).toBe(402);
    expect(await store(newCardNumber('52000009'))).toMatchObject(REFUSAL);
    expect((await store(newCardNumber('52000009'), await createPartner(processor))).status).toBe(402);
    for (let nth = 11; nth <= 50; nth++) expect((await store(newCardNumber())).status).toBe(402);
    expect(await store(newCardNumber())).toMatchObject(REFUSAL);
    expect(vault).toHaveBeenCalledTimes(51);
  });

  test('of a good card leaves no counter, and is no approval that allows more declines', async () => {
    const cardNumber = newCardNumber();
    answerCharges(processor, DECLINED);
    for (let nth = 1; nth <= 3; nth++) await payWith(processor, cardNumber);
    expect((await store(cardNumber)).status).toBe(201);
    expect(await payWith(processor, cardNumber)).toBe('failed');
    expect(await store(cardNumber)).toMatchObject(REFUSAL);
    await processor.superuser.query('TRUNCATE velocity_counters');
    for (let nth = 1; nth <= 12; nth++) expect((await store(newCardNumber('52000008'))).status).toBe(201);
    expect(await readCounters(processor)).toEqual([]);
    answerStoring('invalid');
    for (let nth = 1; nth <= 10; nth++) expect((await store(newCardNumber('52000008'))).status).toBe(402);
    expect(await store(newCardNumber('52000008'))).toMatchObject(REFUSAL);
  });

  test.each([
    ['does not answer', () => Promise.resolve('unknown' as const), 503],
    ['cannot be called', () => Promise.reject(new Error('broken')), 500],
  ])('is not counted if the vault %s', async (_, answer, status) => {
    jest.spyOn(processor.service.app.get(Acquirers).vault, 'storeCard').mockImplementation(answer);
    expect((await store(newCardNumber())).status).toBe(status);
    expect(await readCounters(processor)).toEqual([]);
  });

  test('of many simultaneous requests exactly as many reach the acquirer as the limits allow', async () => {
    const vault = jest.spyOn(processor.service.app.get(Acquirers).vault, 'storeCard');
    const release = Promise.withResolvers<void>();
    vault.mockImplementation(() => release.promise.then(() => 'invalid' as const));
    const cardNumber = newCardNumber();
    const sameCard = Array.from({ length: 8 }, () => store(cardNumber));
    const sameRange = Array.from({ length: 16 }, () => store(newCardNumber('52000007')));
    await Promise.race([waitForEnd(sameCard, 4), ...sameCard]).then(() => waitForEnd(sameCard, 4));
    await waitForEnd(sameRange, 6);
    expect(vault).toHaveBeenCalledTimes(14);
    release.resolve();
    const statuses = async (requests: typeof sameCard) =>
      (await Promise.all(requests)).map(({ status }) => status).sort();
    expect(await statuses(sameCard)).toEqual([402, 402, 402, 402, 422, 422, 422, 422]);
    // The payer's request can be tried again: other cards of the range are in flight.
    expect(await statuses(sameRange)).toEqual([
      ...Array.from({ length: 10 }, () => 402),
      ...Array.from({ length: 6 }, () => 503),
    ]);
  });

  test('for a payment whose payer opens our page is limited like a payment', async () => {
    const simulated = processor.service.app.get(Acquirers).get('simulated');
    jest.replaceProperty(simulated, 'needsBrowser', true);
    const cardNumber = newCardNumber();
    const vault = answerStoring('invalid');
    for (let nth = 1; nth <= 4; nth++) expect((await pay(buildPlainCard({ cardNumber }))).status).toBe(402);
    expect(await pay(buildPlainCard({ cardNumber }))).toMatchObject(REFUSAL);
    expect(vault).toHaveBeenCalledTimes(4);
  });

  test('while the limits are off, nothing is counted and nothing refused', async () => {
    const off = await startProcessor();
    try {
      const payer = await createPartner(off);
      jest.spyOn(off.service.app.get(Acquirers).vault, 'storeCard').mockResolvedValue('invalid');
      const cardNumber = newCardNumber();
      for (let nth = 1; nth <= 12; nth++) expect((await store(cardNumber, payer)).status).toBe(402);
      expect(await readCounters(off)).toEqual([]);
    } finally {
      await off.stop();
    }
  });
});

/** Resolves when this number of requests has ended. */
function waitForEnd(requests: readonly Promise<unknown>[], count: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let ended = 0;
  for (const request of requests) void request.then(() => ++ended === count && resolve());
  return promise;
}

describe('while the key of the hashes is rotated', () => {
  const [oldKey, newKey] = ['A'.repeat(43), `${'B'.repeat(42)}A`];
  const fingerprints = (keys: string) => new CardFingerprints({ SVC_CARD_FINGERPRINT_KEYS: keys });
  /** The service runs with both keys. */
  let rotated: Processor;
  let payer: PartnerUnderTest;
  beforeAll(async () => {
    rotated = await startProcessor({ ...LIMITS_ON, SVC_CARD_FINGERPRINT_KEYS: `${newKey},${oldKey}` });
    merchant = await createMerchant(rotated);
    payer = await createPartner(rotated);
  });
  afterAll(() => rotated.stop());

  /** A card that was stored before the rotation. */
  async function storeBefore(cardNumber: string): Promise<string> {
    const { token } = (await store(cardNumber, payer)).body as { token: string };
    const { card, range } = fingerprints(oldKey).ofCard('test', cardNumber);
    await rotated.superuser.query(
      'UPDATE cards SET fingerprint = $2, other_fingerprint = NULL, range_fingerprint = $3 WHERE token = $1',
      [token, card, range],
    );
    return token;
  }

  const payStored = async (token: string) => {
    const expiresAt = rotated.clock.later(60_000).toISOString();
    return payer.pay(await openInvoice(rotated, { ...merchant, expiresAt }), { paymentMethod: { card: { token } } });
  };

  test('declines of a stored card count for its number, and those of the number for the stored card', async () => {
    const cardNumber = newCardNumber();
    const token = await storeBefore(cardNumber);
    answerCharges(rotated, DECLINED);
    for (let nth = 1; nth <= 2; nth++) expect((await payStored(token)).body).toMatchObject({ status: 'failed' });
    expect(await payWith(rotated, cardNumber)).toBe('failed');
    expect((await payStored(token)).body).toMatchObject({ status: 'failed' });
    expect(await payStored(token)).toMatchObject(REFUSAL);
    expect(await payWith(rotated, cardNumber)).toBe('card.too-many-attempts');
    expect((await store(cardNumber, payer)).status).toBe(422);
  });

  test('a number that is typed changes only the hashes of its own stored cards', async () => {
    const [cardNumber, otherNumber] = [newCardNumber(), newCardNumber()];
    const tokens = [await storeBefore(cardNumber), await storeBefore(cardNumber), await storeBefore(otherNumber)];
    answerCharges(rotated, APPROVED);
    await payWith(rotated, cardNumber);
    const rows = await rotated.dataSource.query<Record<string, string | null>[]>(
      `SELECT fingerprint AS card, other_fingerprint AS "otherCard", range_fingerprint AS range FROM cards
        WHERE token = ANY ($1) ORDER BY array_position($1, token)`,
      [tokens],
    );
    const renewed = fingerprints(`${newKey},${oldKey}`).ofCard('test', cardNumber);
    const { card, range } = fingerprints(oldKey).ofCard('test', otherNumber);
    expect(rows).toEqual([renewed, renewed, { card, range, otherCard: null }]);
  });

  test('a card that is stored meanwhile has both hashes', async () => {
    const cardNumber = newCardNumber();
    const { token } = (await store(cardNumber, payer)).body as { token: string };
    expect(
      await rotated.dataSource.query(
        `SELECT fingerprint AS card, other_fingerprint AS "otherCard", range_fingerprint AS range FROM cards WHERE token = $1`,
        [token],
      ),
    ).toEqual([fingerprints(`${newKey},${oldKey}`).ofCard('test', cardNumber)]);
  });
});
