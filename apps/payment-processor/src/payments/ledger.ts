import type { PaymentSnapshot } from '@svc/contracts';

/**
 * The accounts between which a captured payment moves: the acquirer owes the money, the merchant is owed it. One
 * transfer for each movement, so the ledger balances by construction. Test and live have accounts of their own.
 */
export function captureAccounts(payment: PaymentSnapshot, acquirer: string): { debit: string; credit: string } {
  return {
    debit: `${payment.mode}:acquirer:${acquirer}:receivable`,
    credit: `${payment.mode}:merchant:${payment.merchantId}:payable`,
  };
}
