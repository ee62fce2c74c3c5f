import { httpClient, type HttpResponse } from '@svc/testing';
import { buildPayable } from '../../test/builders.js';
import { CARDS } from '../../test/encrypted-card.js';
import { createMerchant, createPartner, openInvoice } from '../../test/partner.js';
import { type Processor, readBankRecords, startProcessor } from '../../test/processor.js';
import { PaymentProcessorConfig } from '../config.js';
import { MerchantAccountRepository } from './merchant-account.repository.js';

const PATH = '/admin/v1/merchant-accounts';

let processor: Processor;
let admin: ReturnType<typeof httpClient>;
beforeAll(async () => {
  processor = await startProcessor({ SVC_ACQUIRER_LIVE: 'simulated' });
  const { SVC_ADMIN_KEY } = processor.service.app.get(PaymentProcessorConfig);
  admin = httpClient(processor.service, { 'x-admin-key': SVC_ADMIN_KEY });
});
afterAll(() => processor.stop());
let merchantId = 70_000;
beforeEach(() => ++merchantId);
afterEach(() => jest.restoreAllMocks());

const setAccount = (accountReference: string, overrides: object = {}): Promise<HttpResponse> =>
  admin('POST', PATH, { merchantId, mode: 'test', accountReference, ...overrides });
/** The accounts under which the bank has charged this payment. */
const accountsAtBank = (paymentReference: string): unknown[] =>
  readBankRecords(processor)
    .filter((line) => line['paymentReference'] === paymentReference)
    .map(({ account }) => account);
/** Advances the clock by the time after which a new setting applies. */
const advanceOneSecond = (): void => processor.clock.advance(1_000);

test('a payment is charged under the default account, and under a configured account from one second after its configuration', async () => {
  const newPayable = () => buildPayable({ merchantId });
  const paidUnderDefault = await processor.pay(newPayable());
  expect((await setAccount('MID-7')).status).toBe(201);
  advanceOneSecond();
  const paidUnderConfigured = await processor.pay(newPayable());
  expect(
    [paidUnderDefault, paidUnderConfigured].map(({ paymentReference }) => accountsAtBank(paymentReference)),
  ).toEqual([[`merchant-${merchantId}`], ['MID-7']]);
});

test('an account that was set for live mode is not used in test mode', async () => {
  await setAccount('MID-live', { mode: 'live' });
  const { paymentReference } = await processor.pay(buildPayable({ merchantId }));
  expect(accountsAtBank(paymentReference)).toEqual([`merchant-${merchantId}`]);
});

test('a live payment that immediately follows a test payment is charged under the account for live mode', async () => {
  const liveProcessor = await startProcessor({ SVC_ACQUIRER_LIVE: 'simulated' });
  try {
    const accounts = liveProcessor.service.app.get(MerchantAccountRepository);
    const charged: unknown[] = [];
    for (const mode of ['test', 'live'] as const)
      await accounts.set(
        liveProcessor.dataSource.manager,
        merchantId,
        mode,
        { acquirer: 'simulated', accountReference: `MID-${mode}` },
        'admin:test',
      );
    for (const mode of ['test', 'live'] as const) {
      const { paymentReference } = await liveProcessor.pay(buildPayable({ merchantId, mode }));
      const records = readBankRecords(liveProcessor).filter((line) => line['paymentReference'] === paymentReference);
      charged.push(...records.map(({ account }) => account));
    }
    expect(charged).toEqual(['MID-test', 'MID-live']);
  } finally {
    await liveProcessor.stop();
  }
});

test('a partner’s payment is charged under the account of its merchant', async () => {
  const merchant = await createMerchant(processor, { merchantId });
  await setAccount('MID-8');
  const { body } = await (await createPartner(processor)).pay(await openInvoice(processor, merchant));
  expect(accountsAtBank(body.paymentReference)).toEqual(['MID-8']);
});

test('a query, a reversal and a charge after a verification use the account of the attempt, not a newer account', async () => {
  await setAccount('MID-old');
  const payableWithLostResponse = buildPayable({ merchantId });
  const paymentWithLostResponse = await processor.pay(payableWithLostResponse, { card: CARDS.responseLost });
  const payableToVerify = buildPayable({ merchantId });
  const challengedPayment = await processor.pay(payableToVerify, { card: CARDS.verificationRequired });
  const paymentToReverse = await processor.pay(buildPayable({ merchantId }), { card: CARDS.responseLost });

  await setAccount('MID-new');
  advanceOneSecond();
  await processor.answerChallenge(challengedPayment, 'confirm');
  expect(await processor.pollPayments(payableToVerify)).toMatchObject([{ state: 'success' }]);
  expect(await processor.pollPayments(payableWithLostResponse)).toMatchObject([{ state: 'success' }]);
  jest.spyOn(processor.acquirer, 'getChargeStatus').mockResolvedValue({ kind: 'unknown' });
  processor.clock.advance(900_000);
  await processor.recoverAttempts();
  for (const { paymentReference } of [paymentWithLostResponse, challengedPayment, paymentToReverse])
    expect(new Set(accountsAtBank(paymentReference))).toEqual(new Set(['MID-old']));
  expect(processor.chargedReferences()).not.toContain(paymentToReverse.paymentReference);
});

test('a payment is rejected if this release does not know the acquirer of the merchant’s account', async () => {
  await processor.service.app
    .get(MerchantAccountRepository)
    .set(
      processor.dataSource.manager,
      merchantId,
      'test',
      { acquirer: 'acquirer-of-a-later-release', accountReference: 'MID-9' },
      'admin:test',
    );
  await expect(processor.pay(buildPayable({ merchantId }))).rejects.toMatchObject({ code: 'live-mode.unavailable' });
});

test('a merchant without an account is not charged if the acquirer has no default account', async () => {
  jest.spyOn(processor.acquirer, 'getDefaultAccount').mockReturnValue(undefined);
  await expect(processor.pay(buildPayable({ merchantId }))).rejects.toMatchObject({ code: 'live-mode.unavailable' });
  await setAccount('MID-10');
  advanceOneSecond();
  expect(await processor.pay(buildPayable({ merchantId }))).toMatchObject({ state: 'success' });
});

test('the list contains every change, with the fingerprint of the administration key', async () => {
  for (const accountReference of ['MID-1', 'MID-2']) {
    await setAccount(accountReference);
    processor.clock.advance(1);
  }
  processor.clock.advance(1);
  await setAccount('MID-3', { mode: 'live' });
  const { body } = await admin('GET', `${PATH}?merchantId=${merchantId}`);
  expect(body.merchantAccounts).toMatchObject([
    { mode: 'live', version: 1, accountReference: 'MID-3' },
    { mode: 'test', version: 2, accountReference: 'MID-2', acquirer: 'simulated' },
    { mode: 'test', version: 1, accountReference: 'MID-1', setBy: expect.stringMatching(/^admin:[0-9a-f]{16}$/) },
  ]);
  expect(body.acquirers).toEqual({ test: ['simulated'], live: ['simulated'] });
  const allMerchants = (await admin('GET', PATH)).body.merchantAccounts as { merchantId: number }[];
  expect(new Set(allMerchants.map((account) => account.merchantId)).size).toBeGreaterThan(1);
});

test('each of four concurrent changes is either stored or rejected with 409', async () => {
  const changes = await Promise.all(['MID-1', 'MID-2', 'MID-3', 'MID-4'].map((account) => setAccount(account)));
  const statuses = changes.map(({ status }) => status);
  expect(statuses.every((status) => [201, 409].includes(status))).toBe(true);
  const { body } = await admin('GET', `${PATH}?merchantId=${merchantId}`);
  expect(body.merchantAccounts).toHaveLength(statuses.filter((status) => status === 201).length);
});

test.each([
  ['merchantId', { merchantId: 'x' }],
  ['mode', { mode: 'demo' }],
  ['accountReference', { accountReference: '' }],
  ['accountReference', { accountReference: 'x'.repeat(101) }],
  ['acquirer', { acquirer: 'not-configured' }],
])('a setting with an invalid %s, %j, is rejected with a 400 that names the field', async (field, overrides) => {
  const { status, body } = await setAccount('MID-1', overrides);
  expect([status, body.errors[0].field]).toEqual([400, field]);
});

test('a list for an invalid merchant id is rejected with 400', async () => {
  expect((await admin('GET', `${PATH}?merchantId=x`)).status).toBe(400);
});

test('a call without the administration key is rejected with 401', async () => {
  const clientWithoutKey = httpClient(processor.service);
  expect([(await clientWithoutKey('GET', PATH)).status, (await clientWithoutKey('POST', PATH, {})).status]).toEqual([
    401, 401,
  ]);
});
