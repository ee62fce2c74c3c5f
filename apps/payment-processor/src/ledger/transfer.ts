import type { FeeTerms, Mode, PaymentSnapshot } from '@svc/contracts';
import { amountToProcess } from '../payables/amount-to-process.js';

/**
 * One movement of money between two accounts. Each transfer has a debit and a credit, so the ledger is always balanced.
 */
export interface Transfer {
  readonly kind:
    | 'capture'
    | 'fee'
    | 'external'
    | 'voucher'
    | 'refund'
    | 'refundReturn'
    | 'lateApproval'
    | 'reversal'
    | 'feeReversal'
    | 'dispute'
    | 'disputeReversal'
    | 'acquirerFee'
    | 'acquirerPayout';
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

/** The transfer of a refund whose money came back: the refund's transfer with debit and credit swapped. */
export function refundReturnTransfer(payment: PaymentSnapshot, acquirer: string, amount: number): Transfer {
  const { debit, credit } = refundTransfer(payment, acquirer, amount);
  return { kind: 'refundReturn', debit: credit, credit: debit, amount };
}

/**
 * The transfers of a payment whose charge could not be captured: the transfers of its capture and fee with debit and
 * credit swapped, because no money moved.
 */
export function failedCaptureTransfers(payment: PaymentSnapshot, { acquirer, feeTerms }: Charge): Transfer[] {
  const [capture, fee] = [captureTransfer(payment, acquirer), feeTransfer(payment, feeTerms)];
  return [
    { ...capture, kind: 'reversal' as const, debit: capture.credit, credit: capture.debit },
    { ...fee, kind: 'feeReversal' as const, debit: fee.credit, credit: fee.debit },
  ].filter(({ amount }) => amount > 0);
}

/**
 * The transfer of a dispute (M8). `dispute`: the acquirer deducted the amount, so that it owes less to the platform, and
 * the platform owes less to the merchant. `disputeReversal`: the acquirer returned the amount. The acquirer's own fees
 * for a dispute are booked with the line of its settlement report.
 */
export function disputeTransfer(
  payment: PaymentSnapshot,
  acquirer: string,
  { kind, amount }: Pick<Transfer, 'amount'> & { readonly kind: 'dispute' | 'disputeReversal' },
): Transfer {
  const [payable, receivable] = [merchantPayable(payment), acquirerReceivable(payment, acquirer)];
  return kind === 'dispute'
    ? { kind, debit: payable, credit: receivable, amount }
    : { kind, debit: receivable, credit: payable, amount };
}

/**
 * The transfer of a late approval, which is an approval for a failed payment or a second approval for a payable (H2).
 * The acquirer then holds money that belongs to the payer. The transfer of the reversal has debit and credit swapped.
 */
export function lateApprovalTransfer(payment: PaymentSnapshot, acquirer: string): Transfer {
  return chargeToReverse({ mode: payment.mode, amount: amountToProcess(payment) }, acquirer);
}

/**
 * The transfer of a charge whose money belongs to the payer: a late approval, or a charge that a restore of the database
 * has forgotten.
 */
export function chargeToReverse(
  { mode, amount }: Pick<Transfer, 'amount'> & { readonly mode: Mode },
  acquirer: string,
): Transfer {
  return {
    kind: 'lateApproval',
    debit: acquirerReceivable({ mode }, acquirer),
    credit: `${mode}:acquirer:${acquirer}:reversals`,
    amount,
  };
}

/** The transfer of a reversal: the transfer of the charge with debit and credit swapped. */
export function reversalOf({ debit, credit, amount }: Transfer): Transfer {
  return { kind: 'reversal', debit: credit, credit: debit, amount };
}

/** A line of an acquirer's settlement report. Its amounts are cents, and undefined if the line has none. */
interface SettledLine {
  readonly kind: string;
  /** Positive if the acquirer kept it. */
  readonly feeAmount: number | undefined;
  /** Negative for a payout. */
  readonly netAmount: number | undefined;
}

/**
 * The transfer of a line of a settlement report: the fee that the acquirer kept, or its payout to the platform's bank
 * account. Both reduce what the acquirer owes. If the acquirer returns a fee, or a payout comes back, debit and credit are
 * swapped. All other movements of a line are booked when this service learns of them, so undefined for such a line.
 */
export function settlementTransfer(
  { kind, feeAmount, netAmount }: SettledLine,
  { mode, acquirer }: { readonly mode: Mode; readonly acquirer: string },
): Transfer | undefined {
  const amount = (kind === 'payout' ? netAmount && -netAmount : feeAmount) ?? 0;
  if (amount === 0) return undefined;
  const receivable = acquirerReceivable({ mode }, acquirer);
  const target =
    kind === 'payout'
      ? ({ kind: 'acquirerPayout', account: `${mode}:service:bank` } as const)
      : ({ kind: 'acquirerFee', account: `${mode}:acquirer:${acquirer}:fees` } as const);
  return amount > 0
    ? { kind: target.kind, debit: target.account, credit: receivable, amount }
    : { kind: target.kind, debit: receivable, credit: target.account, amount: -amount };
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

function acquirerReceivable({ mode }: Pick<PaymentSnapshot, 'mode'>, acquirer: string): string {
  return `${mode}:acquirer:${acquirer}:receivable`;
}

function merchantPayable({ mode, merchantId }: PaymentSnapshot): string {
  return `${mode}:merchant:${merchantId}:payable`;
}
