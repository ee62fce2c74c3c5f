import { httpClient, type HttpResponse } from '@svc/testing';
import { aPayable } from '../../test/builders.js';
import { CARDS } from '../../test/encrypted-card.js';
import { aMerchant, aPartner, openInvoice } from '../../test/partner.js';
import { bankLines, type Processor, startProcessor } from '../../test/processor.js';
import { PaymentProcessorConfig } from '../config.js';
import { Acquirer } from './acquirer.js';
import { MerchantAccountRepository } from './merchant-account.repository.js';

const PATH = '/admin/v1/merchant-accounts';

let processor: Processor;
let admin: ReturnType<typeof httpClient>;
beforeAll(async () => {
  processor = await startProcessor();
  const { SVC_ADMIN_KEY } = processor.service.app.get(PaymentProcessorConfig);
  admin = httpClient(processor.service, { 'x-admin-key': SVC_ADMIN_KEY });
});
afterAll(() => processor.stop());
let merchantId = 70_000;
beforeEach(() => ++merchantId);
afterEach(() => jest.restoreAllMocks());

const set = (accountReference: string, over: object = {}): Promise<HttpResponse> =>
  admin('POST', PATH, { merchantId, mode: 'test', accountReference, ...over });
/** Accounts of the bank's charges for this payment. */
const accountsAtBank = (paymentReference: string): unknown[] =>
  bankLines(processor)
    .filter((line) => line['paymentReference'] === paymentReference)
    .map(({ account }) => account);
/** A setting takes effect within a second. */
const passSecond = (): void => processor.clock.advance(1_000);

test('a merchant is charged under the default account, and under a configured one within a second', async () => {
  const payable = () => aPayable({ merchantId });
  const first = await processor.pay(payable());
  expect((await set('MID-7')).status).toBe(201);
  passSecond();
  const second = await processor.pay(payable());
  expect([first, second].map(({ paymentReference }) => accountsAtBank(paymentReference))).toEqual([
    [`merchant-${merchantId}`],
    ['MID-7'],
  ]);
});

test('live mode and test mode have different accounts', async () => {
  await set('MID-live', { mode: 'live' });
  const { paymentReference } = await processor.pay(aPayable({ merchantId }));
  expect(accountsAtBank(paymentReference)).toEqual([`merchant-${merchantId}`]);
});

test('a partner’s payment is charged under the account of its merchant', async () => {
  const merchant = await aMerchant(processor, { merchantId });
  await set('MID-8');
  const { body } = await (await aPartner(processor)).pay(await openInvoice(processor, merchant));
  expect(accountsAtBank(body.paymentReference)).toEqual(['MID-8']);
});

test('a query, a reversal and a charge after a verification use the account of the attempt, not a newer one', async () => {
  await set('MID-old');
  const lost = aPayable({ merchantId });
  const unknown = await processor.pay(lost, { card: CARDS.dropsTheAnswer });
  const verified = aPayable({ merchantId });
  const challenged = await processor.pay(verified, { card: CARDS.verified });
  const reversed = await processor.pay(aPayable({ merchantId }), { card: CARDS.dropsTheAnswer });

  await set('MID-new');
  passSecond();
  await processor.answerChallenge(challenged, 'confirm');
  expect(await processor.check(verified)).toMatchObject([{ state: 'success' }]);
  expect(await processor.check(lost)).toMatchObject([{ state: 'success' }]);
  jest.spyOn(processor.service.app.get(Acquirer), 'getChargeStatus').mockResolvedValue({ kind: 'unknown' });
  processor.clock.advance(900_000);
  await processor.recover();
  for (const { paymentReference } of [unknown, challenged, reversed])
    expect(new Set(accountsAtBank(paymentReference))).toEqual(new Set(['MID-old']));
  expect(processor.charged()).not.toContain(reversed.paymentReference);
});

test('a merchant whose acquirer does not support this mode is not charged', async () => {
  await processor.service.app
    .get(MerchantAccountRepository)
    .set(merchantId, 'test', { acquirer: 'of a later release', accountReference: 'MID-9' }, 'admin:test');
  await expect(processor.pay(aPayable({ merchantId }))).rejects.toMatchObject({ code: 'live-mode.unavailable' });
});

test('a merchant without an account is not charged if the acquirer has no default account', async () => {
  jest.spyOn(processor.service.app.get(Acquirer), 'defaultAccountOf').mockReturnValue(undefined);
  await expect(processor.pay(aPayable({ merchantId }))).rejects.toMatchObject({ code: 'live-mode.unavailable' });
  await set('MID-10');
  passSecond();
  expect(await processor.pay(aPayable({ merchantId }))).toMatchObject({ state: 'success' });
});

test('the list has every change, with the fingerprint of its key', async () => {
  for (const accountReference of ['MID-1', 'MID-2']) {
    await set(accountReference);
    processor.clock.advance(1);
  }
  processor.clock.advance(1);
  await set('MID-3', { mode: 'live' });
  const { body } = await admin('GET', `${PATH}?merchantId=${merchantId}`);
  expect(body.merchantAccounts).toMatchObject([
    { mode: 'live', version: 1, accountReference: 'MID-3' },
    { mode: 'test', version: 2, accountReference: 'MID-2', acquirer: 'simulated' },
    { mode: 'test', version: 1, accountReference: 'MID-1', setBy: expect.stringMatching(/^admin:[0-9a-f]{16}$/) },
  ]);
  const allMerchants = (await admin('GET', PATH)).body.merchantAccounts as { merchantId: number }[];
  expect(new Set(allMerchants.map((each) => each.merchantId)).size).toBeGreaterThan(1);
});

test('of two concurrent changes with the same version, one is rejected', async () => {
  const changes = await Promise.all(['MID-1', 'MID-2', 'MID-3', 'MID-4'].map((account) => set(account)));
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
  ['acquirer', { acquirer: 'another' }],
])('a 400 names the invalid field %s of %j', async (field, over) => {
  const { status, body } = await set('MID-1', over);
  expect([status, body.errors[0].field]).toEqual([400, field]);
});

test('a list for an invalid merchant id is a 400', async () => {
  expect((await admin('GET', `${PATH}?merchantId=x`)).status).toBe(400);
});

test('a call without the administration key is a 401', async () => {
  const anybody = httpClient(processor.service);
  expect([(await anybody('GET', PATH)).status, (await anybody('POST', PATH, {})).status]).toEqual([401, 401]);
});
