import type { FeeTerms, PaymentSnapshot, Voucher } from '@svc/contracts';
import fc from 'fast-check';
import {
  calculateFee,
  disputeTransfer,
  lateApprovalTransfer,
  paymentTransfers,
  refundTransfer,
  settlementTransfer,
  type Transfer,
} from './transfer.js';

const PAYMENT = {
  mode: 'live',
  merchantId: 1001,
  state: 'success',
  amount: 1_000,
  tipAmount: 0,
  processedAmount: 1_000,
  partner: { organisationId: 'o-1' },
} as PaymentSnapshot;
const NO_FEE: FeeTerms = { basisPoints: 0, fixedAmount: 0 };
const PAYABLE = 'live:merchant:1001:payable';
const RECEIVABLE = 'live:acquirer:bank:receivable';
const transfersOfCharge = (overrides: Partial<PaymentSnapshot>, feeTerms = NO_FEE): Transfer[] =>
  paymentTransfers({ ...PAYMENT, ...overrides }, { acquirer: 'bank', feeTerms });

describe('a successful payment', () => {
  test('is booked as a debt of the acquirer and as a credit of the merchant, minus the merchant’s fee', () => {
    expect(transfersOfCharge({}, { basisPoints: 290, fixedAmount: 150 })).toEqual([
      { kind: 'capture', debit: RECEIVABLE, credit: PAYABLE, amount: 1_000 },
      { kind: 'fee', debit: PAYABLE, credit: 'live:service:fees', amount: 179 },
    ]);
  });

  test('is booked without transfers of 0 cents', () => {
    expect(transfersOfCharge({}).map(({ kind }) => kind)).toEqual(['capture']);
    expect(transfersOfCharge({ processedAmount: 0 }, { basisPoints: 290, fixedAmount: 150 })).toEqual([]);
  });

  const vouchers: Voucher[] = [
    { merchantLiable: true, amount: 5 },
    { merchantLiable: false, amount: 7 },
  ];
  const expectedVoucherTransfers = [
    { kind: 'voucher', debit: 'live:merchant:1001:vouchers', credit: 'live:merchant:1001:redeemed', amount: 5 },
    { kind: 'voucher', debit: 'live:service:vouchers', credit: PAYABLE, amount: 7 },
  ];

  test('is booked with one transfer for each voucher, from the liable merchant or from the service, without a fee', () => {
    const paidByVouchersOnly = { processedAmount: 0, vouchers };
    expect(transfersOfCharge(paidByVouchersOnly, { basisPoints: 290, fixedAmount: 150 })).toEqual(
      expectedVoucherTransfers,
    );
    expect(paymentTransfers({ ...PAYMENT, ...paidByVouchersOnly })).toEqual(expectedVoucherTransfers);
    expect(transfersOfCharge({ vouchers }).slice(1)).toEqual(expectedVoucherTransfers);
  });

  test('is booked as a debt of the partner to the merchant if it was made externally (P6)', () => {
    const external = { kind: 'external', debit: 'live:organisation:o-1:receivable', credit: PAYABLE, amount: 1_000 };
    expect(paymentTransfers(PAYMENT)).toEqual([external]);
    expect(paymentTransfers({ ...PAYMENT, vouchers })).toEqual([external, ...expectedVoucherTransfers]);
  });
});

test.each(['failed', 'verificationRequired', 'processing'] as const)(
  'a payment in the state %s has no transfers',
  (state) => {
    expect(transfersOfCharge({ state, vouchers: [{ merchantLiable: false, amount: 7 }] })).toEqual([]);
    expect(paymentTransfers({ ...PAYMENT, state })).toEqual([]);
  },
);

test('a refund is booked between the same accounts as the capture, in the opposite direction (M5)', () => {
  expect(refundTransfer(PAYMENT, 'bank', 9)).toEqual({ kind: 'refund', debit: PAYABLE, credit: RECEIVABLE, amount: 9 });
});

test('a dispute is booked in the direction of a refund, and its reversal in the opposite direction (M8)', () => {
  const [debit, credit] = [PAYABLE, RECEIVABLE];
  expect(disputeTransfer(PAYMENT, 'bank', { kind: 'dispute', amount: 9 })).toEqual({
    ...{ kind: 'dispute', debit, credit, amount: 9 },
  });
  expect(disputeTransfer(PAYMENT, 'bank', { kind: 'disputeReversal', amount: 8 })).toEqual({
    ...{ kind: 'disputeReversal', debit: credit, credit: debit, amount: 8 },
  });
});

test('a late approval is booked with the requested amount, which the acquirer holds for the payer (H2)', () => {
  const failed = { ...PAYMENT, state: 'failed', processedAmount: 0, tipAmount: 30, vouchers: [{ amount: 10 }] };
  expect(lateApprovalTransfer(failed as PaymentSnapshot, 'bank')).toEqual({
    kind: 'lateApproval',
    debit: RECEIVABLE,
    credit: 'live:acquirer:bank:reversals',
    amount: 1_020,
  });
});

describe('a fee', () => {
  test.each([
    [0, 290, 0],
    [17, 290, 0],
    [18, 290, 1],
    [50, 100, 1],
    [49, 100, 0],
    [100_000_000_000, 1_000, 10_000_000_000],
  ])('on %d cents at %d basis points is %d cents, rounded half up', (amount, basisPoints, fee) => {
    expect(calculateFee(amount, { basisPoints, fixedAmount: 0 })).toBe(fee);
    expect(calculateFee(amount, { basisPoints, fixedAmount: 150 })).toBe(fee + 150);
  });

  test('differs from the exact share by at most half a cent, for any amount and terms', () => {
    const amounts = fc.integer({ min: 1, max: 200_000_000_000 });
    const terms = fc.record({ basisPoints: fc.nat(1_000), fixedAmount: fc.nat(10_000) });
    fc.assert(
      fc.property(amounts, terms, (amount, { basisPoints, fixedAmount }) => {
        // Both shares are in ten-thousandths of a cent, because a basis point is a ten-thousandth.
        const exactShare = BigInt(amount) * BigInt(basisPoints);
        const roundedShare = BigInt(calculateFee(amount, { basisPoints, fixedAmount }) - fixedAmount) * 10_000n;
        expect(roundedShare - exactShare).toBeGreaterThan(-5_000n);
        expect(roundedShare - exactShare).toBeLessThanOrEqual(5_000n);
      }),
    );
  });
});

describe('the accounts of a day', () => {
  const cents = fc.integer({ min: 0, max: 100_000 });
  const bookingArbitrary = fc.record({
    method: fc.constantFrom('card', 'external', 'late approval'),
    processed: cents,
    vouchers: fc.array(fc.record({ merchantLiable: fc.boolean(), amount: cents }), { maxLength: 3 }),
    feeTerms: fc.record({ basisPoints: fc.nat(1_000), fixedAmount: fc.nat(10_000) }),
    refunded: fc.array(cents, { maxLength: 2 }),
    isReversed: fc.boolean(),
  });
  type Booking = typeof bookingArbitrary extends fc.Arbitrary<infer T> ? T : never;

  function transfersOfBooking({ method, processed, vouchers, feeTerms, refunded, isReversed }: Booking): Transfer[] {
    const payment = { ...PAYMENT, amount: processed, processedAmount: processed, vouchers };
    if (method === 'external') return paymentTransfers(payment);
    if (method === 'late approval') {
      const lateApproval = lateApprovalTransfer({ ...payment, vouchers: [] }, 'bank');
      return isReversed
        ? [lateApproval, { ...lateApproval, kind: 'reversal', debit: lateApproval.credit, credit: lateApproval.debit }]
        : [lateApproval];
    }
    const refunds = refunded.map((amount) => refundTransfer(payment, 'bank', amount));
    return [...paymentTransfers(payment, { acquirer: 'bank', feeTerms }), ...refunds];
  }

  const sum = (transfers: readonly Transfer[], kind: Transfer['kind'], account = ''): number =>
    transfers
      .filter((transfer) => transfer.kind === kind && `${transfer.debit} ${transfer.credit}`.includes(account))
      .reduce((total, { amount }) => total + amount, 0);

  test('are balanced, and the merchant’s account contains payments, vouchers and external payments minus refunds and fees', () => {
    fc.assert(
      fc.property(fc.array(bookingArbitrary, { maxLength: 30 }), (bookings) => {
        const transfers = bookings.flatMap(transfersOfBooking);
        const balances = new Map<string, number>();
        for (const { debit, credit, amount } of transfers) {
          balances.set(debit, (balances.get(debit) ?? 0) - amount);
          balances.set(credit, (balances.get(credit) ?? 0) + amount);
        }
        expect([...balances.values()].reduce((total, balance) => total + balance, 0)).toBe(0);

        const [payments, refunds, fees] = (['capture', 'refund', 'fee'] as const).map((kind) => sum(transfers, kind));
        const vouchers = sum(transfers, 'voucher', PAYABLE);
        const net = payments! + vouchers + sum(transfers, 'external') - refunds! - fees!;
        expect(balances.get(PAYABLE) ?? 0).toBe(net);

        const lateApproval = sum(transfers, 'lateApproval') - sum(transfers, 'reversal');
        expect(balances.get('live:acquirer:bank:reversals') ?? 0).toBe(lateApproval);
        expect(balances.get(RECEIVABLE) ?? 0).toBe(0 - (payments! - refunds! + lateApproval));
      }),
    );
  });
});

describe('a line of a settlement report', () => {
  const book = (line: Parameters<typeof settlementTransfer>[0]) =>
    settlementTransfer(line, { mode: 'live', acquirer: 'adyen' });
  const [receivable, fees, bank] = ['live:acquirer:adyen:receivable', 'live:acquirer:adyen:fees', 'live:service:bank'];

  test.each(['capture', 'refund', 'dispute', 'fee'] as const)('of kind %s books its fee, or its return', (kind) => {
    const line = { kind, netAmount: 7, feeAmount: 3 };
    expect(book(line)).toEqual({ kind: 'acquirerFee', debit: fees, credit: receivable, amount: 3 });
    const returned = { kind: 'acquirerFee', debit: receivable, credit: fees, amount: 3 };
    expect(book({ ...line, feeAmount: -3 })).toEqual(returned);
  });

  test('of a payout books the payout, or its return', () => {
    const line = { kind: 'payout', feeAmount: undefined } as const;
    expect(book({ ...line, netAmount: -9 })).toEqual({
      ...{ kind: 'acquirerPayout', debit: bank, credit: receivable, amount: 9 },
    });
    expect(book({ ...line, netAmount: 9 })).toEqual({
      ...{ kind: 'acquirerPayout', debit: receivable, credit: bank, amount: 9 },
    });
  });

  test.each([
    { kind: 'capture', netAmount: 7, feeAmount: 0 },
    { kind: 'capture', netAmount: undefined, feeAmount: undefined },
    { kind: 'payout', netAmount: 0, feeAmount: undefined },
    { kind: 'payout', netAmount: undefined, feeAmount: undefined },
    { kind: 'balance', netAmount: -9, feeAmount: undefined },
    { kind: 'unknown', netAmount: -9, feeAmount: undefined },
  ] as const)('books nothing: %j', (line) => expect(book(line)).toBeUndefined());
});
