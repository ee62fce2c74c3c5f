/** The ledger's rows for each kind of movement, with the whole service. */
import { type FeeTerms, type HostedPaymentSnapshot, MerchantChangedV1, type MerchantFees } from '@svc/contracts';
import { anEvent } from '@svc/testing';
import fc from 'fast-check';
import { aPayable } from '../../test/builders.js';
import { CARDS } from '../../test/encrypted-card.js';
import { ledgerOf } from '../../test/ledger.js';
import { aRefundClient } from '../../test/merchant-key.js';
import { aMerchant, aPartner, openInvoice } from '../../test/partner.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { Acquirer } from '../acquirers/acquirer.js';
import { feeOf } from './transfer.js';

let processor: Processor;
beforeAll(async () => {
  processor = await startProcessor({ SVC_ACQUIRER_LIVE: 'simulated' });
});
afterAll(() => processor.stop());
afterEach(() => jest.restoreAllMocks());

const TERMS: FeeTerms = { basisPoints: 290, fixedAmount: 150 };
/** Of R 123.45. */
const FEE = 508;
const RECEIVABLE = 'test:acquirer:simulated:receivable';
let version = 1_000_000;
const setFees = (merchantId: number, fees: MerchantFees | undefined): Promise<void> =>
  processor.deliver(
    anEvent(MerchantChangedV1, String(merchantId), ++version, {
      ...{ merchantId, name: 'Karoo Books', features: {}, grants: [] },
      ...(fees ? { fees } : {}),
    }),
  );
const payableOf = (merchantId: number): string => `test:merchant:${merchantId}:payable`;
const fee = (merchantId: number, amount = FEE) => ({
  ...{ kind: 'fee', debit: payableOf(merchantId), credit: 'test:service:fees', amount },
});
const capture = (merchantId: number, amount = 12_345) => ({
  ...{ kind: 'capture', debit: RECEIVABLE, credit: payableOf(merchantId), amount },
});

describe('the fee of a card payment', () => {
  test('is booked with the capture, for its own mode, and stays when the payment is refunded', async () => {
    const { merchantId } = await aMerchant(processor, { fees: { test: TERMS } });
    const payment = await processor.pay(aPayable({ merchantId }));
    expect(await ledgerOf(processor, payment)).toEqual([capture(merchantId), fee(merchantId)]);
    const live = await processor.pay(aPayable({ merchantId, mode: 'live' }));
    expect((await ledgerOf(processor, live)).map(({ kind }) => kind)).toEqual(['capture']);

    await (await aRefundClient(processor, { merchantId })).refund(payment.paymentReference, { amount: 12_345 });
    expect((await ledgerOf(processor, payment)).slice(1)).toEqual([
      fee(merchantId),
      { kind: 'refund', debit: payableOf(merchantId), credit: RECEIVABLE, amount: 12_345 },
    ]);
    const rows = await processor.dataSource.query<unknown[]>(
      `SELECT DISTINCT mode, merchant_id, created_at FROM transfers WHERE merchant_id = $1 ORDER BY mode`,
      [merchantId],
    );
    const createdAt = { merchant_id: merchantId, created_at: processor.clock.now() };
    expect(rows).toEqual([
      { mode: 'live', ...createdAt },
      { mode: 'test', ...createdAt },
    ]);
  });

  test('has the terms from the acceptance of the payment, also if its outcome is recovered later', async () => {
    const { merchantId } = await aMerchant(processor, { fees: { test: TERMS } });
    const lost = await processor.pay(aPayable({ merchantId }), { card: CARDS.dropsTheAnswer });
    const verified = aPayable({ merchantId });
    const challenged = await processor.pay(verified, { card: CARDS.verified });
    await setFees(merchantId, { test: { basisPoints: 1_000, fixedAmount: 10_000 } });

    processor.clock.advance(2_000);
    await processor.recover();
    await processor.answerChallenge(challenged, 'confirm');
    expect(await processor.check(verified)).toMatchObject([{ state: 'success' }]);
    for (const payment of [lost, challenged])
      expect(await ledgerOf(processor, payment)).toEqual([capture(merchantId), fee(merchantId)]);
    const next = await processor.pay(aPayable({ merchantId }));
    expect((await ledgerOf(processor, next)).at(-1)).toEqual(fee(merchantId, 11_235));
  });

  test('is 0 for a merchant without fees or with no event yet; an event without fees keeps the stored ones', async () => {
    const { merchantId } = await aMerchant(processor);
    const payments = [
      await processor.pay(aPayable({ merchantId })),
      await processor.pay(aPayable({ merchantId: 99_999 })),
    ];
    for (const payment of payments)
      expect((await ledgerOf(processor, payment)).map(({ kind }) => kind)).toEqual(['capture']);
    await setFees(merchantId, { test: TERMS });
    await setFees(merchantId, undefined);
    const payment = await processor.pay(aPayable({ merchantId }));
    expect((await ledgerOf(processor, payment)).at(-1)).toEqual(fee(merchantId));
  });

  test('is 0 for a declined payment', async () => {
    const { merchantId } = await aMerchant(processor, { fees: { test: TERMS } });
    expect(await ledgerOf(processor, await processor.pay(aPayable({ merchantId }), { card: CARDS.declined }))).toEqual(
      [],
    );
  });

  test('follows the rule for any amount and terms', async () => {
    const terms = fc.record({ basisPoints: fc.nat(1_000), fixedAmount: fc.nat(10_000) });
    const amounts = fc.integer({ min: 1, max: 100_000_000 });
    const run = fc.asyncProperty(amounts, terms, async (amount, feeTerms) => {
      const { merchantId } = await aMerchant(processor, { fees: { test: feeTerms } });
      const expected = feeOf(amount, feeTerms);
      expect(await ledgerOf(processor, await processor.pay(aPayable({ merchantId, amount })))).toEqual([
        capture(merchantId, amount),
        ...(expected > 0 ? [fee(merchantId, expected)] : []),
      ]);
    });
    await fc.assert(run, { numRuns: 15 });
  });
});

test('a partner’s payment: the part paid by card has a fee, vouchers and external payments have none', async () => {
  const partner = await aPartner(processor);
  const merchant = await aMerchant(processor, {
    fees: { test: TERMS },
    grants: [{ organisationId: partner.organisationId, vouchers: true, externalPayments: true }],
  });
  const { merchantId } = merchant;
  const pay = async (over: Record<string, unknown>): Promise<unknown> =>
    ledgerOf(processor, (await partner.pay(await openInvoice(processor, merchant), over)).body);
  const voucher = (amount: number) => ({ merchantLiable: false, amount });
  const redeemed = (amount: number) => ({
    ...{ kind: 'voucher', debit: 'test:service:vouchers', credit: payableOf(merchantId), amount },
  });

  expect(await pay({ vouchers: [voucher(2_345)] })).toEqual([
    capture(merchantId, 10_000),
    fee(merchantId, 440),
    redeemed(2_345),
  ]);
  expect(await pay({ vouchers: [voucher(12_345)], paymentMethod: undefined })).toEqual([redeemed(12_345)]);
  const external = (status: string) => ({ paymentMethod: { external: { type: 'EFT', status, reference: 'bank-1' } } });
  expect(await pay({ ...external('success'), vouchers: [voucher(345)] })).toEqual([
    {
      kind: 'external',
      debit: `test:organisation:${partner.organisationId}:receivable`,
      credit: payableOf(merchantId),
      amount: 12_000,
    },
    redeemed(345),
  ]);
  expect(await pay({ ...external('failed'), vouchers: [voucher(345)] })).toEqual([]);
});

describe('a late approval (H2)', () => {
  /** The recovery job gets the response that nothing will be charged; then the bank charges nevertheless, and the waiting call gets the approval. */
  async function approvedTooLate(merchantId: number): Promise<HostedPaymentSnapshot> {
    const acquirer = processor.service.app.get(Acquirer);
    const charge = acquirer.charge.bind(acquirer);
    jest.spyOn(acquirer, 'getChargeStatus').mockResolvedValue({ kind: 'notFound' });
    jest.spyOn(acquirer, 'reverse').mockResolvedValue({ kind: 'neverCharged' });
    jest.spyOn(acquirer, 'charge').mockImplementation(async (request, signal) => {
      processor.clock.advance(10_000);
      await processor.recover();
      return charge(request, signal);
    });
    const payment = await processor.pay(aPayable({ merchantId }));
    jest.restoreAllMocks();
    return payment;
  }
  const late = { kind: 'lateApproval', debit: RECEIVABLE, credit: 'test:acquirer:simulated:reversals', amount: 12_345 };
  const reversal = { ...late, kind: 'reversal', debit: late.credit, credit: late.debit };

  test('is money held by the bank until it has confirmed the reversal; the merchant has neither money nor fee', async () => {
    const { merchantId } = await aMerchant(processor, { fees: { test: TERMS } });
    const payment = await approvedTooLate(merchantId);
    expect(payment.state).toBe('failed');
    expect(await ledgerOf(processor, payment)).toEqual([late]);

    jest.spyOn(processor.service.app.get(Acquirer), 'reverse').mockResolvedValue({ kind: 'unconfirmed' });
    await processor.clearUp();
    expect(await ledgerOf(processor, payment)).toEqual([late]);
    jest.restoreAllMocks();
    processor.clock.advance(30_000);
    await processor.clearUp();
    processor.clock.advance(30_000);
    await processor.clearUp();
    expect(await ledgerOf(processor, payment)).toEqual([late, reversal]);
    const [row] = await processor.dataSource.query<unknown[]>(
      `SELECT count(DISTINCT attempt_id) AS attempts, min(merchant_id) AS merchant, min(mode) AS mode FROM transfers
        WHERE attempt_id IN (SELECT attempt_id FROM attempts JOIN payments USING (payment_id) WHERE payment_reference = $1)`,
      [payment.paymentReference],
    );
    expect(row).toEqual({ attempts: 1, merchant: merchantId, mode: 'test' });
  });

  test('of an earlier release has no transfer, so its reversal has none either', async () => {
    const { merchantId } = await aMerchant(processor);
    const payment = await processor.pay(aPayable({ merchantId }), { card: CARDS.declined });
    await processor.dataSource.query(
      `INSERT INTO reversals (attempt_id, requested_at, next_try_at)
       SELECT attempt_id, $2, $2 FROM attempts JOIN payments USING (payment_id) WHERE payment_reference = $1`,
      [payment.paymentReference, processor.clock.now()],
    );
    expect(await processor.clearUp()).toBe(1);
    expect(await ledgerOf(processor, payment)).toEqual([]);
  });
});

describe('the database refuses', () => {
  const insert = (set: string) =>
    processor.dataSource.query(
      `INSERT INTO transfers (transfer_id, kind, debit_account, credit_account, amount, currency, mode, merchant_id, payment_id, attempt_id, created_at)
       SELECT gen_random_uuid(), kind, 'a', 'b', 1, currency, mode, merchant_id, payment_id, attempt_id, created_at
         FROM (SELECT t.*, ${set} FROM (SELECT currency, mode, merchant_id, payment_id, created_at FROM transfers WHERE kind = 'fee' LIMIT 1) AS t) AS row`,
    );
  const someAttempt = `(SELECT attempt_id FROM transfers WHERE kind = 'reversal' LIMIT 1) AS attempt_id`;

  test.each([
    [`a second fee of a payment`, `'fee' AS kind, NULL::uuid AS attempt_id`, 'transfers_once'],
    [`a second capture of a payment`, `'capture' AS kind, NULL::uuid AS attempt_id`, 'transfers_once'],
    [`a second late approval of an attempt`, `'lateApproval' AS kind, ${someAttempt}`, 'transfers_once_for_attempt'],
    [`a second reversal of an attempt`, `'reversal' AS kind, ${someAttempt}`, 'transfers_once_for_attempt'],
    [`a reversal of no attempt`, `'reversal' AS kind, NULL::uuid AS attempt_id`, 'transfers_attempt'],
    [`a fee of an attempt`, `'fee' AS kind, ${someAttempt}`, 'transfers_attempt'],
    [`another kind`, `'gift' AS kind, NULL::uuid AS attempt_id`, 'transfers_kind'],
  ])('%s', async (_, set, constraint) => {
    await expect(insert(set)).rejects.toMatchObject({ driverError: { constraint } });
  });
});
