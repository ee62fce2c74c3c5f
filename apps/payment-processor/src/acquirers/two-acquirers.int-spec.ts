import { randomUUID } from 'node:crypto';
import type { HostedPaymentSnapshot, Mode } from '@svc/contracts';
import { httpClient, type HttpResponse, waitUntil } from '@svc/testing';
import { SecondAcquirer } from '../../test/acquirers/second-acquirer.js';
import { buildPayable } from '../../test/builders.js';
import { CARDS } from '../../test/encrypted-card.js';
import { createRefundClient } from '../../test/merchant-key.js';
import { buildPlainCard, createMerchant, createPartner, openInvoice } from '../../test/partner.js';
import { type Processor, readBankRecords, startProcessor } from '../../test/processor.js';
import { CardRepository } from '../cards/card.repository.js';
import { DeleteCard } from '../cards/delete-card.js';
import { PaymentProcessorConfig } from '../config.js';
import { ReportRepository } from '../reports/report.repository.js';
import { Acquirers } from './acquirers.js';
import { UnconfiguredAcquirersQuery } from './availability/unconfigured-acquirers.query.js';

const CARD = { cardNumber: CARDS.approved, holderName: 'T Payer', expiryMonth: 12, expiryYear: 2030 };

let processor: Processor;
let second: SecondAcquirer;
let admin: ReturnType<typeof httpClient>;
beforeAll(async () => {
  second = new SecondAcquirer('test', 'live');
  processor = await startProcessor({ SVC_CARD_VAULT: 'second' }, [second]);
  await processor.service.app.get(DeleteCard).onApplicationShutdown();
  const { SVC_ADMIN_KEY } = processor.service.app.get(PaymentProcessorConfig);
  admin = httpClient(processor.service, { 'x-admin-key': SVC_ADMIN_KEY });
});
afterAll(() => processor.stop());
let merchantId = 80_000;
beforeEach(() => {
  ++merchantId;
  second.calls.splice(0);
  second.behaviour = 'responds';
});
afterEach(() => jest.restoreAllMocks());

const setAccount = (acquirer: string | undefined, mode: Mode = 'test'): Promise<HttpResponse> =>
  admin('POST', '/admin/v1/merchant-accounts', { merchantId, mode, accountReference: `${acquirer}-${mode}`, acquirer });
/** Sets the account from which a payment one second later is charged. */
async function moveTo(acquirer: string, mode: Mode = 'test'): Promise<void> {
  expect((await setAccount(acquirer, mode)).status).toBe(201);
  processor.clock.advance(1_000);
}
const pay = (mode: Mode = 'test'): Promise<HostedPaymentSnapshot> => processor.pay(payable(mode));
const payable = (mode: Mode = 'test') =>
  buildPayable({ merchantId, mode, expiresAt: processor.clock.later(60_000).toISOString() });
const accountsAtSecond = (): unknown[] =>
  second.calls.map(({ method, accountReference }) => [method, accountReference]);
const recordsAtBank = (paymentReference: string): unknown[] =>
  readBankRecords(processor).filter((record) => record['paymentReference'] === paymentReference);

describe('a new charge', () => {
  test('is sent to the acquirer of the merchant’s account, under this account', async () => {
    await moveTo('second');
    const atSecond = await pay();
    expect([atSecond.state, recordsAtBank(atSecond.paymentReference)]).toEqual(['success', []]);
    expect(accountsAtSecond()).toEqual([['charge', 'second-test']]);
    await moveTo('simulated');
    const atBank = await pay();
    expect(recordsAtBank(atBank.paymentReference)).toMatchObject([{ account: 'simulated-test' }]);
    expect(accountsAtSecond()).toHaveLength(1);
  });

  test('of a merchant without an account is sent to the acquirer that opens accounts by itself', async () => {
    const { state, paymentReference } = await pay();
    expect([state, accountsAtSecond()]).toEqual(['success', []]);
    expect(recordsAtBank(paymentReference)).toHaveLength(1);
  });

  test('is sent to different acquirers in test and live mode', async () => {
    await moveTo('simulated');
    await moveTo('second', 'live');
    Reflect.set(processor.service.app.get(Acquirers), 'liveAcquirer', 'second');
    expect((await pay('live')).state).toBe('success');
    expect(accountsAtSecond()).toEqual([['charge', 'second-live']]);
    expect((await pay('test')).state).toBe('success');
    expect(accountsAtSecond()).toHaveLength(1);
  });
});

describe('after its merchant has moved to another acquirer,', () => {
  test('an attempt without an outcome is queried, and reversed, at its own acquirer', async () => {
    await moveTo('second');
    const lost = payable();
    second.nextOutcome = { kind: 'unknown' };
    await processor.pay(lost);
    await moveTo('simulated');
    expect(await processor.pollPayments(lost)).toMatchObject([{ state: 'success' }]);
    expect(accountsAtSecond()).toEqual([
      ['charge', 'second-test'],
      ['getChargeStatus', 'second-test'],
    ]);

    await moveTo('second');
    second.nextOutcome = { kind: 'unknown' };
    await pay();
    await moveTo('simulated');
    processor.clock.advance(900_000);
    expect(await processor.recoverAttempts()).toBe(1);
    expect(accountsAtSecond().at(-1)).toEqual(['reverse', 'second-test']);
  });

  test('a refund is sent to the acquirer of the charge', async () => {
    const backOffice = await createRefundClient(processor, { merchantId });
    await moveTo('second');
    const { paymentReference } = await pay();
    await moveTo('simulated');
    const { status, body } = await backOffice.refund(paymentReference, { amount: 100 });
    expect([status, body.status, accountsAtSecond().at(-1)]).toEqual([201, 'succeeded', ['refund', 'second-test']]);
  });

  test('a verification is queried at the acquirer that required it, which also charges', async () => {
    await moveTo('second');
    const toVerify = payable();
    second.nextOutcome = {
      kind: 'verificationRequired',
      challenge: { reference: 'challenge-1', url: 'https://second.example/1' },
    };
    expect(await processor.pay(toVerify)).toMatchObject({ state: 'verificationRequired' });
    await moveTo('simulated');
    second.challengeState = 'passed';
    expect(await processor.pollPayments(toVerify)).toMatchObject([{ state: 'success' }]);
    expect(accountsAtSecond()).toEqual([
      ['charge', 'second-test'],
      ['getChallengeState', 'second-test'],
      ['chargeVerified', 'second-test'],
    ]);
  });
});

describe('a stored card', () => {
  const owner = { organisationId: randomUUID(), mode: 'test', customerReference: undefined } as const;
  /** Stores a card as if the vault of this acquirer had been the vault for new cards. */
  async function storeAt(acquirer: string, organisationId: string = owner.organisationId): Promise<string> {
    const token = `card_${randomUUID()}`;
    const fingerprint = { card: 'A'.repeat(22), range: 'B'.repeat(22) };
    const record = { token, acquirer, vaultToken: `vault of ${token}`, cardMask: '**** 4242', fingerprint };
    await processor.service.app
      .get(CardRepository)
      .insert({ ...owner, organisationId }, { ...record, customerReference: undefined, vaultAccount: undefined });
    return token;
  }

  test('is stored in the vault of the acquirer that the setting names, and charged there', async () => {
    await createMerchant(processor, { merchantId });
    await moveTo('second');
    const partner = await createPartner(processor);
    const { status, body } = await partner.call('POST', '/v1/cards', CARD);
    expect([status, second.keysOf('storeCard')]).toEqual([201, [CARDS.approved]]);
    const expiresAt = processor.clock.later(60_000).toISOString();
    const invoice = await openInvoice(processor, { merchantId, expiresAt });
    const paid = await partner.pay(invoice, { paymentMethod: { card: { token: body.token } } });
    expect(paid).toMatchObject({ status: 201, body: { status: 'success' } });
    expect(second.keysOf('charge')).toHaveLength(1);
  });

  test.each([
    ['simulated', 'second'],
    ['second', 'simulated'],
  ])(
    'of %s is refused for a merchant of %s: no payment is recorded, and no acquirer is called',
    async (vault, route) => {
      await createMerchant(processor, { merchantId });
      await moveTo(route);
      const partner = await createPartner(processor);
      const token = await storeAt(vault, partner.organisationId);
      const invoice = await openInvoice(processor, {
        merchantId,
        expiresAt: processor.clock.later(60_000).toISOString(),
      });
      const reference = randomUUID();
      const chargeAtBank = jest.spyOn(processor.acquirer, 'charge');
      const refused = await partner.pay(invoice, { reference, paymentMethod: { card: { token } } });
      expect(refused).toMatchObject({
        status: 422,
        body: { code: 'payment.not-accepted', errors: [{ field: 'paymentMethod.card.token' }] },
      });
      expect([second.calls, chargeAtBank.mock.calls]).toEqual([[], []]);
      const [row] = await processor.dataSource.query<[{ count: number }]>(
        `SELECT count(*) FROM payments WHERE payable_id = $1`,
        [invoice.payableId],
      );
      expect(row.count).toBe(0);
      // The reference and the invoice are free for another card.
      expect(await partner.pay(invoice, { reference, paymentMethod: { card: buildPlainCard() } })).toMatchObject({
        status: 201,
        body: { status: 'success' },
      });
    },
  );

  test('is deleted in the vault of its own acquirer, also while the vault of the other one is unavailable', async () => {
    const deleteAt = (name: string) => processor.service.app.get(DeleteCard).deleteAtAcquirer(name);
    const cards = processor.service.app.get(CardRepository);
    const deletedAtBank: string[] = [];
    jest.spyOn(processor.acquirer, 'deleteCard').mockImplementation(({ vaultToken }) => {
      deletedAtBank.push(vaultToken);
      return Promise.resolve(true);
    });
    const [ofBank, ofSecond] = [await storeAt('simulated'), await storeAt('second')];
    for (const token of [ofSecond, ofBank]) await cards.delete(owner, token);
    second.behaviour = 'stuck';
    const stuckDeletion = deleteAt('second');
    await waitUntil('the deletion at the unavailable vault', 5_000, () => Promise.resolve(second.stuckCount === 1));
    await deleteAt('simulated');
    expect([deletedAtBank, await cards.findDueForDeletion('simulated', 10)]).toEqual([[`vault of ${ofBank}`], []]);
    // The lists of due cards are separate, so that cards of an unavailable vault do not fill the batches of another.
    expect(await cards.findDueForDeletion('second', 10)).toMatchObject([{ token: ofSecond }]);
    second.respondToAll();
    await stuckDeletion;
    second.behaviour = 'responds';
    processor.clock.advance(30_000);
    await deleteAt('second');
    expect(second.keysOf('deleteCard')).toEqual(Array(2).fill(`vault of ${ofSecond}`));
    expect(await cards.findDueForDeletion('second', 10)).toEqual([]);
  });
});

describe('an account of a merchant', () => {
  test('is refused for live mode if the acquirer has no live settings, with the acquirers that have them', async () => {
    const { status, body } = await setAccount('simulated', 'live');
    expect([status, body.errors]).toEqual([
      400,
      [
        {
          errorReference: '40',
          field: 'mode',
          message:
            'mode must not be live, because simulated has no live settings. Acquirers with live settings: second',
        },
      ],
    ]);
    expect((await admin('GET', `/admin/v1/merchant-accounts?merchantId=${merchantId}`)).body).toEqual({
      merchantAccounts: [],
      acquirers: { test: ['simulated', 'second'], live: ['second'] },
    });
    expect((await setAccount('second', 'live')).status).toBe(201);
  });

  test('is refused for live mode without an acquirer, because the first one has no live settings', async () => {
    expect((await setAccount(undefined, 'live')).status).toBe(400);
    expect((await setAccount(undefined)).body).toMatchObject({ acquirer: 'simulated' });
  });

  test('is refused for an unknown acquirer, with the names of the known ones', async () => {
    const { status, body } = await setAccount('third');
    expect([status, body.errors]).toMatchObject([
      400,
      [{ field: 'acquirer', message: 'acquirer must be one of simulated, second' }],
    ]);
  });
});

test('an acquirer with unfinished work that is no longer configured is reported at the start', async () => {
  const query = processor.service.app.get(UnconfiguredAcquirersQuery);
  const log = { error: jest.fn() };
  Object.assign(query, { log });
  await moveTo('second');
  second.nextOutcome = { kind: 'unknown' };
  await pay();
  await query.onApplicationBootstrap();
  expect(log.error).not.toHaveBeenCalled();
  Object.assign(query, { acquirers: { names: ['simulated'] } });
  await query.onApplicationBootstrap();
  expect(log.error.mock.calls).toEqual([[{ acquirers: ['second'] }, expect.any(String)]]);
});

test('an acquirer with a stored webhook that is no longer configured is reported at the start', async () => {
  const query = processor.service.app.get(UnconfiguredAcquirersQuery);
  const log = { error: jest.fn() };
  Object.assign(query, { log, acquirers: { names: ['simulated', 'second'] } });
  const fields = { acquirer: 'removed', mode: 'test', accountReference: 'Shop', acquirerReference: 'r' } as const;
  const report = { kind: 'ignored', ...fields, reason: 'x' } as const;
  await processor.service.app.get(ReportRepository).store([{ report, duplicateKey: 'k' }]);
  await query.onApplicationBootstrap();
  expect(log.error.mock.calls).toEqual([[{ acquirers: ['removed'] }, expect.any(String)]]);
});
