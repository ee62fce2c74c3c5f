import type { AnyPaymentSnapshot } from '@svc/contracts';

/** One movement of money: who owes it from now on, and whom. */
export interface Transfer {
  readonly kind: 'capture' | 'external' | 'voucher' | 'refund';
  readonly debit: string;
  readonly credit: string;
  /** Cents. */
  readonly amount: number;
}

/**
 * The accounts between which a captured payment moves: the acquirer owes the money, the merchant is owed it. One
 * transfer for each movement, so the ledger balances by construction. Test and live have accounts of their own.
 */
export function captureAccounts(payment: AnyPaymentSnapshot, acquirer: string): { debit: string; credit: string } {
  return {
    debit: `${payment.mode}:acquirer:${acquirer}:receivable`,
    credit: merchantPayable(payment),
  };
}

/**
 * What vouchers covered of a payment. A voucher that the merchant is liable for moves nothing to it: it has redeemed what
 * it had promised. Any other is the service's to pay.
 */
export function voucherTransfers(payment: AnyPaymentSnapshot): Transfer[] {
  const { mode, merchantId, vouchers = [] } = payment;
  return vouchers.map(({ merchantLiable, amount }) =>
    merchantLiable
      ? {
          kind: 'voucher',
          debit: `${mode}:merchant:${merchantId}:vouchers`,
          credit: `${mode}:merchant:${merchantId}:redeemed`,
          amount,
        }
      : { kind: 'voucher', debit: `${mode}:service:vouchers`, credit: merchantPayable(payment), amount },
  );
}

/** A payment made elsewhere: the partner that says so has the money, and owes it (P6). */
export function externalTransfer(payment: AnyPaymentSnapshot, amount: number): Transfer {
  return {
    kind: 'external',
    debit: `${payment.mode}:organisation:${payment.partner?.organisationId}:receivable`,
    credit: merchantPayable(payment),
    amount,
  };
}

/** Money given back (M5): the merchant is owed less, and the acquirer owes less, because it has paid the payer. */
export function refundTransfer(payment: AnyPaymentSnapshot, acquirer: string, amount: number): Transfer {
  const { debit: receivable, credit: payable } = captureAccounts(payment, acquirer);
  return { kind: 'refund', debit: payable, credit: receivable, amount };
}

function merchantPayable({ mode, merchantId }: AnyPaymentSnapshot): string {
  return `${mode}:merchant:${merchantId}:payable`;
}
