import type { PaymentSnapshot, Voucher } from '@svc/contracts';

/** The sum of the vouchers, in cents. */
export function vouchersTotal(vouchers: readonly Voucher[] = []): number {
  return vouchers.reduce((sum, { amount }) => sum + amount, 0);
}

/** The amount in cents that a card or an external payment must cover; 0 when vouchers cover the whole amount (P6). */
export function amountToProcess({
  amount,
  tipAmount,
  vouchers,
}: Pick<PaymentSnapshot, 'amount' | 'tipAmount' | 'vouchers'>): number {
  return amount - vouchersTotal(vouchers) + tipAmount;
}
