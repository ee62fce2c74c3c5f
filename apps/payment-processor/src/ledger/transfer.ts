import type { FeeTerms, PaymentSnapshot } from '@svc/contracts';
import { amountToProcess } from '../payables/amount-to-process.js';

/**
 * One movement of money between two accounts. Each transfer has a debit and a credit, so the ledger is always balanced.
 */
export interface Transfer {
  readonly kind: 'capture' | 'fee' | 'external' | 'voucher' | 'refund' | 'lateApproval' | 'reversal';
  readonly debit: string;
  readonly credit: string;
  /** Cents. */
  readonly amount: number;
}

/** The charge of a payment: its acquirer, and the merchant's fee terms. */
export interface Charge {
  /** Name of the acquirer. */
  readonly acquirer: string;
  readonly feeTerms: FeeTerms;
}

/**
 * The transfers of a payment. Only a successful payment has transfers. An amount that is processed without a charge is
 * an external payment: the partner has received the money and owes it to the merchant (P6). A fee applies only to
 * amounts that an acquirer charges. A refund does not return the fee (M5).
 */
export function paymentTransfers(payment: PaymentSnapshot, charge?: Charge): Transfer[] {
  if (payment.state !== 'success') return [];
  const processed = payment.processedAmount;
  const movements = charge
    ? [captureTransfer(payment, charge.acquirer), feeTransfer(payment, charge.feeTerms)]
    : [externalTransfer(payment)];
  return [...(processed > 0 ? movements : []), ...voucherTransfers(payment)].filter(({ amount }) => amount > 0);
}

/**
 * The fee in cents of an amount that an acquirer charges, rounded half up. All intermediate results are integers far
 * below 2^53, so they are exact.
 */
export function calculateFee(processedAmount: number, { basisPoints, fixedAmount }: FeeTerms): number {
  return Math.floor((processedAmount * basisPoints + 5_000) / 10_000) + fixedAmount;
}

/**
 * The transfer of a refund (M5). It reduces the platform's debt to the merchant. It also reduces the acquirer's debt to
 * the platform, because the acquirer has paid the payer.
 */
export function refundTransfer(payment: PaymentSnapshot, acquirer: string, amount: number): Transfer {
  return {
    kind: 'refund',
    debit: merchantPayable(payment),
    credit: acquirerReceivable(payment, acquirer),
    amount,
  };
}

/**
 * The transfer of a late approval, which is an approval for a failed payment or a second approval for a payable (H2).
 * The acquirer then holds money that belongs to the payer. The transfer of the reversal has debit and credit swapped.
 */
export function lateApprovalTransfer(payment: PaymentSnapshot, acquirer: string): Transfer {
  return {
    kind: 'lateApproval',
    debit: acquirerReceivable(payment, acquirer),
    credit: `${payment.mode}:acquirer:${acquirer}:reversals`,
    amount: amountToProcess(payment),
  };
}

function captureTransfer(payment: PaymentSnapshot, acquirer: string): Transfer {
  return {
    kind: 'capture',
    debit: acquirerReceivable(payment, acquirer),
    credit: merchantPayable(payment),
    amount: payment.processedAmount,
  };
}

function feeTransfer(payment: PaymentSnapshot, terms: FeeTerms): Transfer {
  return {
    kind: 'fee',
    debit: merchantPayable(payment),
    credit: `${payment.mode}:service:fees`,
    amount: calculateFee(payment.processedAmount, terms),
  };
}

function externalTransfer(payment: PaymentSnapshot): Transfer {
  return {
    kind: 'external',
    debit: `${payment.mode}:organisation:${payment.partner?.organisationId}:receivable`,
    credit: merchantPayable(payment),
    amount: payment.processedAmount,
  };
}

/**
 * The transfers of the amounts that vouchers cover. If the merchant is liable for a voucher, the merchant gets no money
 * for it. The service pays for every other voucher.
 */
function voucherTransfers(payment: PaymentSnapshot): Transfer[] {
  const { mode, merchantId, vouchers = [] } = payment;
  const merchant = `${mode}:merchant:${merchantId}`;
  return vouchers.map(({ merchantLiable, amount }) =>
    merchantLiable
      ? { kind: 'voucher', debit: `${merchant}:vouchers`, credit: `${merchant}:redeemed`, amount }
      : { kind: 'voucher', debit: `${mode}:service:vouchers`, credit: merchantPayable(payment), amount },
  );
}

function acquirerReceivable({ mode }: PaymentSnapshot, acquirer: string): string {
  return `${mode}:acquirer:${acquirer}:receivable`;
}

function merchantPayable({ mode, merchantId }: PaymentSnapshot): string {
  return `${mode}:merchant:${merchantId}:payable`;
}
