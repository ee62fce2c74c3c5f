/** The transfers that the running service books for each kind of money movement. */
import { type FeeTerms, type HostedPaymentSnapshot, MerchantChangedV1, type MerchantFees } from '@svc/contracts';
import { anEvent } from '@svc/testing';
import fc from 'fast-check';
import { readLedger } from '../../test/books/ledger.js';
import { buildPayable } from '../../test/builders.js';
import { CARDS } from '../../test/encrypted-card.js';
import { createRefundClient } from '../../test/merchant-key.js';
import { createMerchant, createPartner, openInvoice } from '../../test/partner.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { calculateFee } from './transfer.js';

let processor: Processor;
beforeAll(async () => {
  processor = await startProcessor({ SVC_ACQUIRER_LIVE: 'simulated' });
});
afterAll(() => processor.stop());
afterEach(() => jest.restoreAllMocks());

const TERMS: FeeTerms = { basisPoints: 290, fixedAmount: 150 };
/** The fee in cents of a payment of R 123.45 with these terms: 358 (rounded) plus 150. */
const FEE = 508;
const RECEIVABLE = 'test:acquirer:simulated:receivable';
let version = 1_000_000;
const setFees = (merchantId: number, fees: MerchantFees): Promise<void> =>
  processor.deliver(
    anEvent(MerchantChangedV1, String(merchantId), ++version, {
      ...{ merchantId, name: 'Karoo Books', features: {}, minimumAmount: 100, grants: [], fees },
      timeZones: [{ zone: 'Africa/Johannesburg' }],
    }),
  );
const merchantAccount = (merchantId: number): string => `test:merchant:${merchantId}:payable`;
const expectedFee = (merchantId: number, amount = FEE) => ({
  ...{ kind: 'fee', debit: merchantAccount(merchantId), credit: 'test:service:fees', amount },
});
const expectedCapture = (merchantId: number, amount = 12_345) => ({
  ...{ kind: 'capture', debit: RECEIVABLE, credit: merchantAccount(merchantId), amount },
});

describe('the fee of a card payment', () => {
  test('is booked with the capture, only in the mode of its terms, and is not returned with a refund', async () => {
    const { merchantId } = await createMerchant(processor, { fees: { test: TERMS } });
    const payment = await processor.pay(buildPayable({ merchantId }));
    expect(await readLedger(processor, payment)).toEqual([expectedCapture(merchantId), expectedFee(merchantId)]);
    const live = await processor.pay(buildPayable({ merchantId, mode: 'live' }));
    expect((await readLedger(processor, live)).map(({ kind }) => kind)).toEqual(['capture']);

    await (await createRefundClient(processor, { merchantId })).refund(payment.paymentReference, { amount: 12_345 });
    expect((await readLedger(processor, payment)).slice(1)).toEqual([
      expectedFee(merchantId),
      { kind: 'refund', debit: merchantAccount(merchantId), credit: RECEIVABLE, amount: 12_345 },
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

  test('is calculated with the terms at the acceptance of the payment, even if the outcome is recovered later', async () => {
    const { merchantId } = await createMerchant(processor, { fees: { test: TERMS } });
    const paymentWithLostResponse = await processor.pay(buildPayable({ merchantId }), { card: CARDS.responseLost });
    const payableToVerify = buildPayable({ merchantId });
    const challengedPayment = await processor.pay(payableToVerify, { card: CARDS.verificationRequired });
    await setFees(merchantId, { test: { basisPoints: 1_000, fixedAmount: 10_000 } });

    processor.clock.advance(2_000);
    await processor.recoverAttempts();
    await processor.answerChallenge(challengedPayment, 'confirm');
    expect(await processor.pollPayments(payableToVerify)).toMatchObject([{ state: 'success' }]);
    for (const payment of [paymentWithLostResponse, challengedPayment])
      expect(await readLedger(processor, payment)).toEqual([expectedCapture(merchantId), expectedFee(merchantId)]);
    const next = await processor.pay(buildPayable({ merchantId }));
    // 10 % of 12 345 cents, rounded, plus 10 000.
    expect((await readLedger(processor, next)).at(-1)).toEqual(expectedFee(merchantId, 1_235 + 10_000));
  });

  test('is 0 if the merchant has no fees or its event has not arrived', async () => {
    const { merchantId } = await createMerchant(processor);
    const payments = [
      await processor.pay(buildPayable({ merchantId })),
      await processor.pay(buildPayable({ merchantId: 99_999 })),
    ];
    for (const payment of payments)
      expect((await readLedger(processor, payment)).map(({ kind }) => kind)).toEqual(['capture']);
    await setFees(merchantId, { test: TERMS });
    const payment = await processor.pay(buildPayable({ merchantId }));
    expect((await readLedger(processor, payment)).at(-1)).toEqual(expectedFee(merchantId));
  });

  test('is 0 for a declined payment', async () => {
    const { merchantId } = await createMerchant(processor, { fees: { test: TERMS } });
    expect(
      await readLedger(processor, await processor.pay(buildPayable({ merchantId }), { card: CARDS.declined })),
    ).toEqual([]);
  });

  test('is the result of calculateFee for any amount and terms', async () => {
    const terms = fc.record({ basisPoints: fc.nat(1_000), fixedAmount: fc.nat(10_000) });
    const amounts = fc.integer({ min: 1, max: 100_000_000 });
    const property = fc.asyncProperty(amounts, terms, async (amount, feeTerms) => {
      const { merchantId } = await createMerchant(processor, { fees: { test: feeTerms } });
      const expected = calculateFee(amount, feeTerms);
      expect(await readLedger(processor, await processor.pay(buildPayable({ merchantId, amount })))).toEqual([
        expectedCapture(merchantId, amount),
        ...(expected > 0 ? [expectedFee(merchantId, expected)] : []),
      ]);
    });
    await fc.assert(property, { numRuns: 15 });
  });
});

test('in a partner’s payment only the amount paid by card has a fee; vouchers and external payments have none', async () => {
  const partner = await createPartner(processor);
  const merchant = await createMerchant(processor, {
    fees: { test: TERMS },
    grants: [{ organisationId: partner.organisationId, vouchers: true, externalPayments: true }],
  });
  const { merchantId } = merchant;
  const pay = async (overrides: Record<string, unknown>): Promise<unknown> =>
    readLedger(processor, (await partner.pay(await openInvoice(processor, merchant), overrides)).body);
  const voucher = (amount: number) => ({ merchantLiable: false, amount });
  const expectedVoucher = (amount: number) => ({
    ...{ kind: 'voucher', debit: 'test:service:vouchers', credit: merchantAccount(merchantId), amount },
  });

  expect(await pay({ vouchers: [voucher(2_345)] })).toEqual([
    expectedCapture(merchantId, 10_000),
    expectedFee(merchantId, 290 + 150),
    expectedVoucher(2_345),
  ]);
  expect(await pay({ vouchers: [voucher(12_345)], paymentMethod: undefined })).toEqual([expectedVoucher(12_345)]);
  const external = (status: string) => ({ paymentMethod: { external: { type: 'EFT', status, reference: 'bank-1' } } });
  expect(await pay({ ...external('success'), vouchers: [voucher(345)] })).toEqual([
    {
      kind: 'external',
      debit: `test:organisation:${partner.organisationId}:receivable`,
      credit: merchantAccount(merchantId),
      amount: 12_000,
    },
    expectedVoucher(345),
  ]);
  expect(await pay({ ...external('failed'), vouchers: [voucher(345)] })).toEqual([]);
});

describe('a late approval (H2)', () => {
  /**
   * The bank confirms to the recovery job that it will never charge. Afterwards the bank charges nevertheless, and
   * approves the charge in its response to the first call.
   */
  async function payWithLateApproval(merchantId: number): Promise<HostedPaymentSnapshot> {
    const acquirer = processor.acquirer;
    const charge = acquirer.charge.bind(acquirer);
    jest.spyOn(acquirer, 'getChargeStatus').mockResolvedValue({ kind: 'notFound' });
    jest.spyOn(acquirer, 'reverse').mockResolvedValue({ kind: 'neverCharged' });
    jest.spyOn(acquirer, 'charge').mockImplementation(async (request, signal) => {
      processor.clock.advance(10_000);
      await processor.recoverAttempts();
      return charge(request, signal);
    });
    const payment = await processor.pay(buildPayable({ merchantId }));
    jest.restoreAllMocks();
    return payment;
  }
  const expectedLateApproval = {
    kind: 'lateApproval',
    debit: RECEIVABLE,
    credit: 'test:acquirer:simulated:reversals',
    amount: 12_345,
  };
  const expectedReversal = {
    ...expectedLateApproval,
    kind: 'reversal',
    debit: expectedLateApproval.credit,
    credit: expectedLateApproval.debit,
  };

  test('is booked as the payer’s money at the bank until the bank confirms the reversal; the merchant gets no money and pays no fee', async () => {
    const { merchantId } = await createMerchant(processor, { fees: { test: TERMS } });
    const payment = await payWithLateApproval(merchantId);
    expect(payment.state).toBe('failed');
    expect(await readLedger(processor, payment)).toEqual([expectedLateApproval]);

    jest.spyOn(processor.acquirer, 'reverse').mockResolvedValue({ kind: 'unconfirmed' });
    await processor.runCleanup();
    expect(await readLedger(processor, payment)).toEqual([expectedLateApproval]);
    jest.restoreAllMocks();
    processor.clock.advance(30_000);
    await processor.runCleanup();
    processor.clock.advance(30_000);
    await processor.runCleanup();
    expect(await readLedger(processor, payment)).toEqual([expectedLateApproval, expectedReversal]);
    const [row] = await processor.dataSource.query<unknown[]>(
      `SELECT count(DISTINCT attempt_id) AS attempts, min(merchant_id) AS merchant, min(mode) AS mode FROM transfers
        WHERE attempt_id IN (SELECT attempt_id FROM attempts JOIN payments USING (payment_id) WHERE payment_reference = $1)`,
      [payment.paymentReference],
    );
    expect(row).toEqual({ attempts: 1, merchant: merchantId, mode: 'test' });
  });
});

describe('a constraint of the ledger', () => {
  const insertTransfer = (columns: string) =>
    processor.dataSource.query(
      `INSERT INTO transfers (transfer_id, kind, debit_account, credit_account, amount, currency, mode, merchant_id, payment_id, attempt_id, created_at)
       SELECT gen_random_uuid(), kind, 'a', 'b', 1, currency, mode, merchant_id, payment_id, attempt_id, created_at
         FROM (SELECT t.*, ${columns} FROM (SELECT currency, mode, merchant_id, payment_id, created_at FROM transfers WHERE kind = 'fee' LIMIT 1) AS t) AS row`,
    );
  const REVERSED_ATTEMPT = `(SELECT attempt_id FROM transfers WHERE kind = 'reversal' LIMIT 1) AS attempt_id`;

  test.each([
    [`a second fee of a payment`, `'fee' AS kind, NULL::uuid AS attempt_id`, 'transfers_once'],
    [`a second capture of a payment`, `'capture' AS kind, NULL::uuid AS attempt_id`, 'transfers_once'],
    [
      `a second late approval of an attempt`,
      `'lateApproval' AS kind, ${REVERSED_ATTEMPT}`,
      'transfers_once_for_attempt',
    ],
    [`a second reversal of an attempt`, `'reversal' AS kind, ${REVERSED_ATTEMPT}`, 'transfers_once_for_attempt'],
    [`a reversal without an attempt`, `'reversal' AS kind, NULL::uuid AS attempt_id`, 'transfers_attempt'],
    [`a fee with an attempt`, `'fee' AS kind, ${REVERSED_ATTEMPT}`, 'transfers_attempt'],
    [`an unknown kind`, `'gift' AS kind, NULL::uuid AS attempt_id`, 'transfers_kind'],
  ])('rejects %s', async (_, columns, constraint) => {
    await expect(insertTransfer(columns)).rejects.toMatchObject({ driverError: { constraint } });
  });
});
