import type { AnyPaymentSnapshot } from '@svc/contracts';
import { captureAccounts, externalTransfer, refundTransfer, voucherTransfers } from './ledger.js';

const PAYMENT = { mode: 'live', merchantId: 1001, partner: { organisationId: 'o-1' } } as AnyPaymentSnapshot;

test('the acquirer owes what it captured, and the merchant is owed it', () => {
  expect(captureAccounts(PAYMENT, 'bank')).toEqual({
    debit: 'live:acquirer:bank:receivable',
    credit: 'live:merchant:1001:payable',
  });
});

test('a voucher is redeemed by the merchant that is liable for it, or paid by the service', () => {
  const vouchers = [
    { merchantLiable: true, amount: 5 },
    { merchantLiable: false, amount: 7 },
  ];
  expect(voucherTransfers({ ...PAYMENT, vouchers })).toEqual([
    { kind: 'voucher', debit: 'live:merchant:1001:vouchers', credit: 'live:merchant:1001:redeemed', amount: 5 },
    { kind: 'voucher', debit: 'live:service:vouchers', credit: 'live:merchant:1001:payable', amount: 7 },
  ]);
  expect(voucherTransfers(PAYMENT)).toEqual([]);
});

test('of a payment made elsewhere the partner has the money, and owes it (P6)', () => {
  expect(externalTransfer(PAYMENT, 9)).toEqual({
    kind: 'external',
    debit: 'live:organisation:o-1:receivable',
    credit: 'live:merchant:1001:payable',
    amount: 9,
  });
});

test('a refund takes back a part of the capture, between the same accounts (M5)', () => {
  const { debit, credit } = captureAccounts(PAYMENT, 'bank');
  expect(refundTransfer(PAYMENT, 'bank', 9)).toEqual({ kind: 'refund', debit: credit, credit: debit, amount: 9 });
});
