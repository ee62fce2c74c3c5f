import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { waitUntil } from '@svc/testing';
import { CARDS, encryptedCard } from '../../test/encrypted-card.js';
import { aMerchant, aPartner, openInvoice, type PartnerUnderTest } from '../../test/partner.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { Acquirer } from '../acquirers/acquirer.js';
import { CardRepository } from './card.repository.js';
import { DeleteCard } from './delete-card.js';

let processor: Processor;
let partner: PartnerUnderTest;
let merchant: { merchantId: number; siteId: number };
beforeAll(async () => {
  processor = await startProcessor();
});
beforeEach(async () => {
  partner = await aPartner(processor);
  merchant = await aMerchant(processor);
});
afterAll(() => processor.stop());

const clear = (cardNumber: string = CARDS.approved) => ({
  cardNumber,
  holderName: 'T Payer',
  expiryMonth: 12,
  expiryYear: 2030,
});
const withToken = (token: string) => ({ paymentMethod: { card: { token } } });
const anInvoice = () => openInvoice(processor, merchant);

test('a customer stores a card, pays with it several times, and deletes it', async () => {
  const customer = await partner.customer();
  const { status, body, headers } = await customer.call('POST', '/v1/cards', clear('5555555555554444'));
  expect([status, headers['cache-control']]).toEqual([201, 'no-store']);
  expect(body).toEqual({
    token: expect.stringMatching(/^card_[\w-]{32}$/),
    cardMask: '**** 4444',
    holderName: 'T Payer',
    expiryMonth: 12,
    expiryYear: 2030,
    brand: 'mastercard',
  });
  for (let times = 0; times < 2; times++) {
    const paid = await customer.pay(await anInvoice(), withToken(body.token));
    expect(paid).toMatchObject({ status: 201, body: { status: 'success', paymentMethodDescription: '**** 4444' } });
  }
  expect((await customer.call('DELETE', `/v1/cards/${body.token}`)).status).toBe(204);
  expect((await customer.call('DELETE', `/v1/cards/${body.token}`)).status).toBe(404);
  expect((await customer.pay(await anInvoice(), withToken(body.token))).status).toBe(404);
});

test('a stored card behaves like its number: it is declined, or requires a verification', async () => {
  const store = async (number: string) => (await partner.call('POST', '/v1/cards', clear(number))).body.token as string;
  const declined = await partner.pay(await anInvoice(), withToken(await store(CARDS.insufficientFunds)));
  expect(declined.body).toMatchObject({ status: 'failed', errors: [{ errorReference: '11' }] });
  const verified = await partner.pay(await anInvoice(), withToken(await store(CARDS.verified)));
  expect(verified.body).toMatchObject({ status: 'verificationRequired', verificationUrl: expect.any(String) });
});

test('a card encrypted for its owner is stored without a CVV, and rejected for another owner', async () => {
  const customer = await partner.customer();
  const key = (await customer.call('GET', '/v1/cards/encryption-key')).body;
  expect(key).toEqual(processor.cardKey);
  const encrypted = (sessionId: string) => encryptedCard(key, { sessionId, try: 1 }, { cvv: undefined });
  const store = async (sessionId: string) =>
    customer.call('POST', '/v1/cards', { encryptedCard: await encrypted(sessionId) });
  expect((await store(customer.customerReference)).status).toBe(201);
  expect(await store(partner.organisationId)).toMatchObject({
    status: 400,
    body: { errors: [{ message: 'The card was encrypted for another page. Reload the page and try again.' }] },
  });
  const ofOrganisation = { encryptedCard: await encrypted(partner.organisationId) };
  expect((await partner.call('POST', '/v1/cards', ofOrganisation)).status).toBe(201);
});

test('only the owner may use and delete a card', async () => {
  const [one, two, stranger] = [await partner.customer(), await partner.customer(), await aPartner(processor)];
  const store = async (owner: { call: PartnerUnderTest['call'] }) =>
    (await owner.call('POST', '/v1/cards', clear())).body.token as string;
  const [ofOne, ofOrganisation] = [await store(one), await store(partner)];
  const pays = async (payer: Pick<PartnerUnderTest, 'pay'>, token: string, over = {}) =>
    (await payer.pay(await anInvoice(), { ...withToken(token), ...over })).status;

  expect(await pays(one, ofOne)).toBe(201);
  expect(await pays(two, ofOne)).toBe(404);
  expect(await pays(one, ofOrganisation)).toBe(404);
  expect(await pays(partner, ofOrganisation)).toBe(201);
  // The organisation's server may use a customer's card only for that customer.
  expect(await pays(partner, ofOne, { customer: { id: one.customerReference } })).toBe(201);
  expect(await pays(partner, ofOne, { customer: { id: one.customerReference.toUpperCase() } })).toBe(201);
  expect(await pays(partner, ofOne, { customer: { id: two.customerReference } })).toBe(404);
  for (const token of [ofOne, ofOrganisation]) expect(await pays(stranger, token)).toBe(404);

  const deletes = async (caller: { call: PartnerUnderTest['call'] }, token: string) =>
    (await caller.call('DELETE', `/v1/cards/${token}`)).status;
  expect(await deletes(two, ofOne)).toBe(404);
  expect(await deletes(stranger, ofOne)).toBe(404);
  expect(await deletes(one, ofOrganisation)).toBe(404);
  expect(await deletes(partner, ofOne)).toBe(204);
  expect(await deletes(partner, ofOrganisation)).toBe(204);
});

test('a card has one mode: in the other mode its organisation cannot pay with it or delete it', async () => {
  const live = await aPartner(processor, 'live', partner.organisationId);
  const customer = await partner.customer();
  const sameCustomer = await live.customer(customer.customerReference);
  const { token } = (await customer.call('POST', '/v1/cards', clear())).body as { token: string };
  for (const stranger of [live, sameCustomer]) {
    const invoice = await openInvoice(processor, { ...merchant, mode: 'live' });
    expect((await stranger.pay(invoice, withToken(token))).status).toBe(404);
    expect((await stranger.call('DELETE', `/v1/cards/${token}`)).status).toBe(404);
  }
  expect((await customer.pay(await anInvoice(), withToken(token))).status).toBe(201);
});

test('only the card in the request is used or deleted, also if a customer has several', async () => {
  const store = async (number: string) => (await partner.call('POST', '/v1/cards', clear(number))).body.token as string;
  const [first, second] = [await store(CARDS.approved), await store('5555555555554444')];
  const paid = await partner.pay(await anInvoice(), withToken(second));
  expect(paid.body).toMatchObject({ status: 'success', paymentMethodDescription: '**** 4444' });
  expect((await partner.call('DELETE', `/v1/cards/${first}`)).status).toBe(204);
  await processor.service.app.get(DeleteCard).deleteAtAcquirer();
  const known = await processor.dataSource.query<object[]>(
    `SELECT token, deleted_at IS NOT NULL AS deleted, forgotten_at IS NOT NULL AS forgotten FROM cards WHERE token IN ($1, $2)`,
    [first, second],
  );
  expect(known).toEqual(
    expect.arrayContaining([
      { token: first, deleted: true, forgotten: true },
      { token: second, deleted: false, forgotten: false },
    ]),
  );
  expect((await partner.pay(await anInvoice(), withToken(second))).status).toBe(201);
});

test.each([
  ['cardNumber', {}],
  ['cardNumber', { ...clear(), encryptedCard: 'x' }],
  ['cardNumber', clear('4242424242424241')],
  ['holderName', { ...clear(), holderName: undefined }],
  ['expiryDate', { ...clear(), expiryMonth: 13 }],
  ['expiryMonth', { ...clear(), expiryMonth: '12' }],
])('a 400 names the invalid field %s of %j', async (field, payload) => {
  const { status, body } = await partner.call('POST', '/v1/cards', payload);
  expect([status, body.errors[0].field]).toEqual([400, field]);
  expect(JSON.stringify(body)).not.toContain('424242');
});

test('while the vault is unavailable no card is stored, and deleted cards are removed from the vault later', async () => {
  const { token } = (await partner.call('POST', '/v1/cards', clear())).body as { token: string };
  const acquirer = processor.service.app.get(Acquirer);
  const store = jest.spyOn(acquirer, 'storeCard').mockResolvedValue('unknown');
  const forget = jest.spyOn(acquirer, 'deleteCard').mockResolvedValue(false);
  const away = await partner.call('POST', '/v1/cards', clear());
  expect([away.status, away.headers['retry-after'], away.body.errors[0].errorReference]).toEqual([503, '5', '30']);
  expect((await partner.call('DELETE', `/v1/cards/${token}`)).status).toBe(204);
  expect((await partner.pay(await anInvoice(), withToken(token))).status).toBe(404);
  const postponed = async () =>
    processor.dataSource.query<unknown[]>(`SELECT 1 FROM cards WHERE token = $1 AND forget_after > $2`, [
      token,
      processor.clock.now(),
    ]);
  await waitUntil('a failed deletion at the vault', 5_000, async () => (await postponed()).length > 0);
  store.mockRestore();
  forget.mockRestore();
  const forgotten = async () => {
    const [row] = await processor.dataSource.query<[{ at: Date | null }]>(
      `SELECT forgotten_at AS at FROM cards WHERE token = $1`,
      [token],
    );
    return row.at !== null;
  };
  expect(await forgotten()).toBe(false);
  processor.clock.advance(30_000);
  await processor.service.app.get(DeleteCard).deleteAtAcquirer();
  expect(await forgotten()).toBe(true);
});

test('a card that another replica has deleted at the vault keeps its time of deletion', async () => {
  const { token } = (await partner.call('POST', '/v1/cards', clear())).body as { token: string };
  const cards = processor.service.app.get(CardRepository);
  const owner = { organisationId: partner.organisationId, mode: 'test', customerReference: undefined } as const;
  expect(await cards.delete(owner, token)).toBe(true);
  await cards.markDeletedAtAcquirer(token);
  const row = async (): Promise<unknown> =>
    processor.dataSource.query(`SELECT forgotten_at, forget_after FROM cards WHERE token = $1`, [token]);
  const before = await row();
  expect(before).toEqual([{ forgotten_at: processor.clock.now(), forget_after: null }]);
  processor.clock.advance(1_000);
  await cards.markDeletedAtAcquirer(token);
  await cards.postponeDeletion(token);
  expect(await row()).toEqual(before);
});

test('a malformed token is not found', async () => {
  for (const token of ['%00', 'x'.repeat(101), 'x'.repeat(5_000), '%ED%95%9C'])
    expect((await partner.call('DELETE', `/v1/cards/${token}`)).status).toBe(404);
});

test('deleting does not wait for the vault, even with many pending deletions', async () => {
  const token = async () => (await partner.call('POST', '/v1/cards', clear())).body.token as string;
  const [first, second] = [await token(), await token()];
  const acquirer = processor.service.app.get(Acquirer);
  let answer: (isForgotten: boolean) => void = () => undefined;
  const silent = new Promise<boolean>((resolve) => (answer = resolve));
  const forget = jest.spyOn(acquirer, 'deleteCard').mockReturnValue(silent);
  expect((await partner.call('DELETE', `/v1/cards/${first}`)).status).toBe(204);
  await waitUntil('a deletion at the vault', 5_000, () => Promise.resolve(forget.mock.calls.length > 0));
  expect((await partner.call('DELETE', `/v1/cards/${second}`)).status).toBe(204);
  answer(true);
  const waiting = async () =>
    processor.dataSource.query<unknown[]>(`SELECT 1 FROM cards WHERE deleted_at IS NOT NULL AND forgotten_at IS NULL`);
  await waitUntil('all cards to be deleted at the vault', 5_000, async () => (await waiting()).length === 0);
  forget.mockRestore();
});

test('the number of a card is in no table and in no record of the bank', async () => {
  const planted = '5105105105105100';
  const { token } = (await partner.call('POST', '/v1/cards', clear(planted))).body as { token: string };
  const reference = randomUUID();
  await partner.pay(await anInvoice(), { reference, ...withToken(token) });
  await partner.pay(await anInvoice(), { paymentMethod: { card: { ...clear(planted), cvv: '971' } } });
  const tables = await processor.dataSource.query<{ name: string }[]>(
    `SELECT relname AS name FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = current_schema()::regnamespace`,
  );
  const containing = async (text: string): Promise<string[]> => {
    const found: string[] = [];
    for (const { name } of tables) {
      const rows = await processor.dataSource.query<unknown[]>(
        `SELECT 1 FROM "${name}" t WHERE t::text LIKE '%' || $1 || '%' LIMIT 1`,
        [text],
      );
      if (rows.length > 0) found.push(name);
    }
    return found;
  };
  expect(await containing('**** 5100')).toEqual(expect.arrayContaining(['cards', 'event_log', 'payments']));
  expect(await containing(planted)).toEqual([]);
  expect(readFileSync(processor.books, 'utf8')).toContain('vaultToken');
  expect(readFileSync(processor.books, 'utf8')).not.toContain(planted);
});

test('cards that the vault does not delete do not block others, and are retried with backoff', async () => {
  const { app } = processor.service;
  const cards = app.get(CardRepository);
  const owner = { organisationId: randomUUID(), mode: 'test', customerReference: undefined } as const;
  const refused = new Set<string>();
  const deleteCard = async (): Promise<string> => {
    const vaultToken = randomUUID();
    const stored = { vaultToken, acquirer: 'simulated', cardMask: '**** 4242', customerReference: undefined };
    await cards.insert(owner, { token: `card of ${vaultToken}`, ...stored });
    await cards.delete(owner, `card of ${vaultToken}`);
    return vaultToken;
  };
  // A full batch.
  while (refused.size < 50) refused.add(await deleteCard());
  processor.clock.advance(1);
  const last = await deleteCard();
  let deletions: string[] = [];
  const forget = jest.spyOn(app.get(Acquirer), 'deleteCard').mockImplementation(({ vaultToken }) => {
    deletions.push(vaultToken);
    return Promise.resolve(!refused.has(vaultToken));
  });
  const warn = jest.spyOn(app.get<ServiceLog>(SERVICE_LOG), 'warn');
  const deletionsAfter = async (ms: number): Promise<string[]> => {
    processor.clock.advance(ms);
    deletions = [];
    await app.get(DeleteCard).deleteAtAcquirer();
    return deletions.toSorted();
  };

  const sorted = [...refused].toSorted();
  expect(await deletionsAfter(0)).toEqual(sorted);
  expect(warn).toHaveBeenLastCalledWith({ cards: 50 }, expect.any(String));
  expect(await deletionsAfter(0)).toEqual([last]);
  expect(await deletionsAfter(29_000)).toEqual([]);
  expect(await deletionsAfter(1_000)).toEqual(sorted);
  expect(await deletionsAfter(24 * 3_600_000)).toEqual(sorted);
  expect(await deletionsAfter(3_599_000)).toEqual([]);
  expect(await deletionsAfter(1_000)).toEqual(sorted);
  expect(warn).toHaveBeenCalledTimes(4);
  refused.clear();
  expect(await deletionsAfter(3_600_000)).toEqual(sorted);
  expect(await deletionsAfter(24 * 3_600_000)).toEqual([]);
  forget.mockRestore();
  warn.mockRestore();
});

test('a 400 names every invalid field of a card, malformed or not', async () => {
  const fieldsOf = async (card: object) => {
    const { status, body } = await partner.call('POST', '/v1/cards', card);
    return [status, ...body.errors.map(({ field }: { field: string }) => field)] as unknown[];
  };
  expect(await fieldsOf({ ...clear('4242424242424241'), expiryMonth: '12' })).toEqual([
    400,
    'expiryMonth',
    'cardNumber',
  ]);
  expect(await fieldsOf({ ...clear(), holderName: 7, expiryYear: 2020 })).toEqual([400, 'holderName', 'expiryDate']);
  expect(await fieldsOf({ holderName: '' })).toEqual([400, 'holderName', 'cardNumber']);
});
