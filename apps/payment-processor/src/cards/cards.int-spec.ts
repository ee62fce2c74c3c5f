import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { waitUntil } from '@svc/testing';
import { CARDS, encryptCard } from '../../test/encrypted-card.js';
import { createMerchant, createPartner, openInvoice, type PartnerUnderTest } from '../../test/partner.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { CardRepository } from './card.repository.js';
import { DeleteCard } from './delete-card.js';

let processor: Processor;
let partner: PartnerUnderTest;
let merchant: { merchantId: number; siteId: number };
beforeAll(async () => {
  processor = await startProcessor();
});
beforeEach(async () => {
  partner = await createPartner(processor);
  merchant = await createMerchant(processor);
});
afterAll(() => processor.stop());

const plainCard = (cardNumber: string = CARDS.approved) => ({
  cardNumber,
  holderName: 'T Payer',
  expiryMonth: 12,
  expiryYear: 2030,
});
const paymentWithToken = (token: string) => ({ paymentMethod: { card: { token } } });
const openNewInvoice = () => openInvoice(processor, merchant);

test('a customer stores a card, pays with it several times, and deletes it', async () => {
  const customer = await partner.customer();
  const { status, body, headers } = await customer.call('POST', '/v1/cards', plainCard('5555555555554444'));
  expect([status, headers['cache-control']]).toEqual([201, 'no-store']);
  expect(body).toEqual({
    token: expect.stringMatching(/^card_[\w-]{32}$/),
    cardMask: '**** 4444',
    holderName: 'T Payer',
    expiryMonth: 12,
    expiryYear: 2030,
    brand: 'mastercard',
  });
  for (let payments = 0; payments < 2; payments++) {
    const paid = await customer.pay(await openNewInvoice(), paymentWithToken(body.token));
    expect(paid).toMatchObject({ status: 201, body: { status: 'success', paymentMethodDescription: '**** 4444' } });
  }
  expect((await customer.call('DELETE', `/v1/cards/${body.token}`)).status).toBe(204);
  expect((await customer.call('DELETE', `/v1/cards/${body.token}`)).status).toBe(404);
  expect((await customer.pay(await openNewInvoice(), paymentWithToken(body.token))).status).toBe(404);
});

test('a stored card is declined or requires a verification, like a card with the same number that is not stored', async () => {
  const storeCard = async (number: string) =>
    (await partner.call('POST', '/v1/cards', plainCard(number))).body.token as string;
  const declined = await partner.pay(
    await openNewInvoice(),
    paymentWithToken(await storeCard(CARDS.insufficientFunds)),
  );
  expect(declined.body).toMatchObject({ status: 'failed', errors: [{ errorReference: '11' }] });
  const verified = await partner.pay(
    await openNewInvoice(),
    paymentWithToken(await storeCard(CARDS.verificationRequired)),
  );
  expect(verified.body).toMatchObject({ status: 'verificationRequired', verificationUrl: expect.any(String) });
});

test('a card encrypted for its owner is stored without a CVV, and rejected for another owner', async () => {
  const customer = await partner.customer();
  const key = (await customer.call('GET', '/v1/cards/encryption-key')).body;
  expect(key).toEqual(processor.cardKey);
  const encryptFor = (sessionId: string) => encryptCard(key, { sessionId, paymentNumber: 1 }, { cvv: undefined });
  const storeCard = async (sessionId: string) =>
    customer.call('POST', '/v1/cards', { encryptedCard: await encryptFor(sessionId) });
  expect((await storeCard(customer.customerReference)).status).toBe(201);
  expect(await storeCard(partner.organisationId)).toMatchObject({
    status: 400,
    body: { errors: [{ message: 'The card was encrypted for another page. Reload the page and try again.' }] },
  });
  const cardOfOrganisation = { encryptedCard: await encryptFor(partner.organisationId) };
  expect((await partner.call('POST', '/v1/cards', cardOfOrganisation)).status).toBe(201);
});

test('only the owner may use and delete a card', async () => {
  const [customer, otherCustomer, otherPartner] = [
    await partner.customer(),
    await partner.customer(),
    await createPartner(processor),
  ];
  const storeCard = async (owner: { call: PartnerUnderTest['call'] }) =>
    (await owner.call('POST', '/v1/cards', plainCard())).body.token as string;
  const [tokenOfCustomer, tokenOfOrganisation] = [await storeCard(customer), await storeCard(partner)];
  const payStatus = async (payer: Pick<PartnerUnderTest, 'pay'>, token: string, overrides = {}) =>
    (await payer.pay(await openNewInvoice(), { ...paymentWithToken(token), ...overrides })).status;

  expect(await payStatus(customer, tokenOfCustomer)).toBe(201);
  expect(await payStatus(otherCustomer, tokenOfCustomer)).toBe(404);
  expect(await payStatus(customer, tokenOfOrganisation)).toBe(404);
  expect(await payStatus(partner, tokenOfOrganisation)).toBe(201);
  // The organisation's server may use a customer's card only for that customer.
  expect(await payStatus(partner, tokenOfCustomer, { customer: { id: customer.customerReference } })).toBe(201);
  expect(
    await payStatus(partner, tokenOfCustomer, { customer: { id: customer.customerReference.toUpperCase() } }),
  ).toBe(201);
  expect(await payStatus(partner, tokenOfCustomer, { customer: { id: otherCustomer.customerReference } })).toBe(404);
  for (const token of [tokenOfCustomer, tokenOfOrganisation]) expect(await payStatus(otherPartner, token)).toBe(404);

  const deleteStatus = async (caller: { call: PartnerUnderTest['call'] }, token: string) =>
    (await caller.call('DELETE', `/v1/cards/${token}`)).status;
  expect(await deleteStatus(otherCustomer, tokenOfCustomer)).toBe(404);
  expect(await deleteStatus(otherPartner, tokenOfCustomer)).toBe(404);
  expect(await deleteStatus(customer, tokenOfOrganisation)).toBe(404);
  expect(await deleteStatus(partner, tokenOfCustomer)).toBe(204);
  expect(await deleteStatus(partner, tokenOfOrganisation)).toBe(204);
});

test('a card that was stored in test mode can be neither used nor deleted in live mode', async () => {
  const livePartner = await createPartner(processor, 'live', partner.organisationId);
  const customer = await partner.customer();
  const sameCustomerInLiveMode = await livePartner.customer(customer.customerReference);
  const { token } = (await customer.call('POST', '/v1/cards', plainCard())).body as { token: string };
  for (const liveCaller of [livePartner, sameCustomerInLiveMode]) {
    const invoice = await openInvoice(processor, { ...merchant, mode: 'live' });
    expect((await liveCaller.pay(invoice, paymentWithToken(token))).status).toBe(404);
    expect((await liveCaller.call('DELETE', `/v1/cards/${token}`)).status).toBe(404);
  }
  expect((await customer.pay(await openNewInvoice(), paymentWithToken(token))).status).toBe(201);
});

test('if an owner has several cards, only the card in the request is used or deleted', async () => {
  const storeCard = async (number: string) =>
    (await partner.call('POST', '/v1/cards', plainCard(number))).body.token as string;
  const [first, second] = [await storeCard(CARDS.approved), await storeCard('5555555555554444')];
  const paid = await partner.pay(await openNewInvoice(), paymentWithToken(second));
  expect(paid.body).toMatchObject({ status: 'success', paymentMethodDescription: '**** 4444' });
  expect((await partner.call('DELETE', `/v1/cards/${first}`)).status).toBe(204);
  await processor.service.app.get(DeleteCard).deleteAtAcquirer('simulated');
  const storedRows = await processor.dataSource.query<object[]>(
    `SELECT token, deleted_at IS NOT NULL AS deleted, vault_deleted_at IS NOT NULL AS "isDeletedAtVault" FROM cards WHERE token IN ($1, $2)`,
    [first, second],
  );
  expect(storedRows).toEqual(
    expect.arrayContaining([
      { token: first, deleted: true, isDeletedAtVault: true },
      { token: second, deleted: false, isDeletedAtVault: false },
    ]),
  );
  expect((await partner.pay(await openNewInvoice(), paymentWithToken(second))).status).toBe(201);
});

test.each([
  ['cardNumber', {}],
  ['cardNumber', { ...plainCard(), encryptedCard: 'x' }],
  ['cardNumber', plainCard('4242424242424241')],
  ['holderName', { ...plainCard(), holderName: undefined }],
  ['expiryDate', { ...plainCard(), expiryMonth: 13 }],
  ['expiryMonth', { ...plainCard(), expiryMonth: '12' }],
])('a card whose field %s is invalid (%j) is rejected with a 400 that names the field', async (field, payload) => {
  const { status, body } = await partner.call('POST', '/v1/cards', payload);
  expect([status, body.errors[0].field]).toEqual([400, field]);
  expect(JSON.stringify(body)).not.toContain('424242');
});

test('while the vault is unavailable no card is stored, and deleted cards are removed from the vault later', async () => {
  const { token } = (await partner.call('POST', '/v1/cards', plainCard())).body as { token: string };
  const acquirer = processor.acquirer;
  const storeSpy = jest.spyOn(acquirer, 'storeCard').mockResolvedValue('unknown');
  const deleteSpy = jest.spyOn(acquirer, 'deleteCard').mockResolvedValue(false);
  const unavailable = await partner.call('POST', '/v1/cards', plainCard());
  expect([unavailable.status, unavailable.headers['retry-after'], unavailable.body.errors[0].errorReference]).toEqual([
    503,
    '5',
    '30',
  ]);
  expect((await partner.call('DELETE', `/v1/cards/${token}`)).status).toBe(204);
  expect((await partner.pay(await openNewInvoice(), paymentWithToken(token))).status).toBe(404);
  const findPostponed = async () =>
    processor.dataSource.query<unknown[]>(`SELECT 1 FROM cards WHERE token = $1 AND next_vault_delete_at > $2`, [
      token,
      processor.clock.now(),
    ]);
  await waitUntil('a failed deletion at the vault', 5_000, async () => (await findPostponed()).length > 0);
  storeSpy.mockRestore();
  deleteSpy.mockRestore();
  const isDeletedAtVault = async () => {
    const [row] = await processor.dataSource.query<[{ at: Date | null }]>(
      `SELECT vault_deleted_at AS at FROM cards WHERE token = $1`,
      [token],
    );
    return row.at !== null;
  };
  expect(await isDeletedAtVault()).toBe(false);
  processor.clock.advance(30_000);
  await processor.service.app.get(DeleteCard).deleteAtAcquirer('simulated');
  expect(await isDeletedAtVault()).toBe(true);
});

test('a card is deleted in the account of the vault in which it was stored', async () => {
  const { acquirer } = processor;
  const stored = { vaultToken: randomUUID(), vaultAccount: 'Vault of the earlier setting' };
  const storeSpy = jest.spyOn(acquirer, 'storeCard').mockResolvedValueOnce(stored);
  const deleteSpy = jest.spyOn(acquirer, 'deleteCard').mockResolvedValue(true);
  const { token } = (await partner.call('POST', '/v1/cards', plainCard())).body as { token: string };
  expect((await partner.call('DELETE', `/v1/cards/${token}`)).status).toBe(204);
  await processor.service.app.get(DeleteCard).deleteAtAcquirer('simulated');
  expect(deleteSpy).toHaveBeenCalledWith(stored, 'test');
  storeSpy.mockRestore();
  deleteSpy.mockRestore();
});

test('the time of deletion at the vault does not change when another replica has already deleted the card', async () => {
  const { token } = (await partner.call('POST', '/v1/cards', plainCard())).body as { token: string };
  const cards = processor.service.app.get(CardRepository);
  const owner = { organisationId: partner.organisationId, mode: 'test', customerReference: undefined } as const;
  expect(await cards.delete(owner, token)).toBe(true);
  await cards.markDeletedAtAcquirer(token);
  const readRow = async (): Promise<unknown> =>
    processor.dataSource.query(`SELECT vault_deleted_at, next_vault_delete_at FROM cards WHERE token = $1`, [token]);
  const before = await readRow();
  expect(before).toEqual([{ vault_deleted_at: processor.clock.now(), next_vault_delete_at: null }]);
  processor.clock.advance(1_000);
  await cards.markDeletedAtAcquirer(token);
  await cards.postponeDeletion(token);
  expect(await readRow()).toEqual(before);
});

test('the deletion of a malformed token is rejected with 404', async () => {
  for (const token of ['%00', 'x'.repeat(101), 'x'.repeat(5_000), '%ED%95%9C'])
    expect((await partner.call('DELETE', `/v1/cards/${token}`)).status).toBe(404);
});

test('the deletion of a card does not wait for the vault, even with other pending deletions', async () => {
  const storeNewCard = async () => (await partner.call('POST', '/v1/cards', plainCard())).body.token as string;
  const [first, second] = [await storeNewCard(), await storeNewCard()];
  const acquirer = processor.acquirer;
  let respondFromVault: (isDeleted: boolean) => void = () => undefined;
  const vaultResponse = new Promise<boolean>((resolve) => (respondFromVault = resolve));
  const deleteSpy = jest.spyOn(acquirer, 'deleteCard').mockReturnValue(vaultResponse);
  expect((await partner.call('DELETE', `/v1/cards/${first}`)).status).toBe(204);
  await waitUntil('a deletion at the vault', 5_000, () => Promise.resolve(deleteSpy.mock.calls.length > 0));
  expect((await partner.call('DELETE', `/v1/cards/${second}`)).status).toBe(204);
  respondFromVault(true);
  const findPending = async () =>
    processor.dataSource.query<unknown[]>(
      `SELECT 1 FROM cards WHERE deleted_at IS NOT NULL AND vault_deleted_at IS NULL`,
    );
  await waitUntil('all cards to be deleted at the vault', 5_000, async () => (await findPending()).length === 0);
  deleteSpy.mockRestore();
});

test('a card number is stored in no table and in no record of the bank', async () => {
  const cardNumber = '5105105105105100';
  const { token } = (await partner.call('POST', '/v1/cards', plainCard(cardNumber))).body as { token: string };
  const reference = randomUUID();
  await partner.pay(await openNewInvoice(), { reference, ...paymentWithToken(token) });
  await partner.pay(await openNewInvoice(), { paymentMethod: { card: { ...plainCard(cardNumber), cvv: '971' } } });
  const tables = await processor.dataSource.query<{ name: string }[]>(
    `SELECT relname AS name FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = current_schema()::regnamespace`,
  );
  const tablesContaining = async (text: string): Promise<string[]> => {
    const tableNames: string[] = [];
    for (const { name } of tables) {
      const rows = await processor.dataSource.query<unknown[]>(
        `SELECT 1 FROM "${name}" t WHERE t::text LIKE '%' || $1 || '%' LIMIT 1`,
        [text],
      );
      if (rows.length > 0) tableNames.push(name);
    }
    return tableNames;
  };
  expect(await tablesContaining('**** 5100')).toEqual(expect.arrayContaining(['cards', 'event_log', 'payments']));
  expect(await tablesContaining(cardNumber)).toEqual([]);
  expect(readFileSync(processor.bankFile, 'utf8')).toContain('vaultToken');
  expect(readFileSync(processor.bankFile, 'utf8')).not.toContain(cardNumber);
});

test('cards that the vault fails to delete do not block other deletions, and are retried with backoff', async () => {
  const { app } = processor.service;
  const cards = app.get(CardRepository);
  const owner = { organisationId: randomUUID(), mode: 'test', customerReference: undefined } as const;
  const undeletableTokens = new Set<string>();
  const deleteCard = async (): Promise<string> => {
    const vaultToken = randomUUID();
    const vault = { acquirer: 'simulated', vaultToken, vaultAccount: undefined };
    const record = { ...vault, cardMask: '**** 4242', customerReference: undefined };
    const fingerprint = { card: 'A'.repeat(22), range: 'B'.repeat(22) };
    await cards.insert(owner, { token: `card of ${vaultToken}`, fingerprint, ...record });
    await cards.delete(owner, `card of ${vaultToken}`);
    return vaultToken;
  };
  // 50 is the batch size of the job.
  while (undeletableTokens.size < 50) undeletableTokens.add(await deleteCard());
  processor.clock.advance(1);
  const laterToken = await deleteCard();
  let deletions: string[] = [];
  const deleteSpy = jest.spyOn(processor.acquirer, 'deleteCard').mockImplementation(({ vaultToken }) => {
    deletions.push(vaultToken);
    return Promise.resolve(!undeletableTokens.has(vaultToken));
  });
  const warn = jest.spyOn(app.get<ServiceLog>(SERVICE_LOG), 'warn');
  const deletionsAfter = async (ms: number): Promise<string[]> => {
    processor.clock.advance(ms);
    deletions = [];
    await app.get(DeleteCard).deleteAtAcquirer('simulated');
    return deletions.toSorted();
  };

  // The delay until the next attempt is the time since the deletion, but at least 30 s and at most 1 h.
  const sortedTokens = [...undeletableTokens].toSorted();
  expect(await deletionsAfter(0)).toEqual(sortedTokens);
  expect(warn).toHaveBeenLastCalledWith({ acquirer: 'simulated', cards: 50 }, expect.any(String));
  expect(await deletionsAfter(0)).toEqual([laterToken]);
  expect(await deletionsAfter(29_000)).toEqual([]);
  expect(await deletionsAfter(1_000)).toEqual(sortedTokens);
  expect(await deletionsAfter(24 * 3_600_000)).toEqual(sortedTokens);
  expect(await deletionsAfter(3_599_000)).toEqual([]);
  expect(await deletionsAfter(1_000)).toEqual(sortedTokens);
  expect(warn).toHaveBeenCalledTimes(4);
  undeletableTokens.clear();
  expect(await deletionsAfter(3_600_000)).toEqual(sortedTokens);
  expect(await deletionsAfter(24 * 3_600_000)).toEqual([]);
  deleteSpy.mockRestore();
  warn.mockRestore();
});

test('a 400 names all invalid fields of a card: fields with a wrong type and fields with an invalid value', async () => {
  const statusAndFields = async (card: object) => {
    const { status, body } = await partner.call('POST', '/v1/cards', card);
    return [status, ...body.errors.map(({ field }: { field: string }) => field)] as unknown[];
  };
  expect(await statusAndFields({ ...plainCard('4242424242424241'), expiryMonth: '12' })).toEqual([
    400,
    'expiryMonth',
    'cardNumber',
  ]);
  expect(await statusAndFields({ ...plainCard(), holderName: 7, expiryYear: 2020 })).toEqual([
    400,
    'holderName',
    'expiryDate',
  ]);
  expect(await statusAndFields({ holderName: '' })).toEqual([400, 'holderName', 'cardNumber']);
});
