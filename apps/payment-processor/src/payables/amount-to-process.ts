import type { PaymentSnapshot, Voucher } from '@svc/contracts';

/** Cents that vouchers cover. */
export function vouchersTotal(vouchers: readonly Voucher[] = []): number {
  return vouchers.reduce((sum, { amount }) => sum + amount, 0);
}

/** Cents to charge to the payer: 0 when vouchers cover everything (P6). */
export function amountToProcess({
  amount,
  tipAmount,
  vouchers,
}: Pick<PaymentSnapshot, 'amount' | 'tipAmount' | 'vouchers'>): number {
  return amount - vouchersTotal(vouchers) + tipAmount;
}
