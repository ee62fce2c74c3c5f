/** Types and parser of a settlement statement. Amounts are cents. */
import { MalformedPaymentError, readObject, readText, readWholeNumber } from '../hosted-payment.js';

/** Number and total of the movements of one type. */
export interface SettlementItem {
  count: number;
  amount: number;
}

/**
 * The totals in one currency: net = payments − reversals + vouchers + externalPayments − refunds + refundReturns −
 * fees + feeReversals − disputes + disputeReversals.
 */
export interface SettlementTotals {
  /** ISO 4217. */
  currencyISOCode: string;
  payments: SettlementItem;
  /** Payments whose money the acquirer could not take after it had approved them. */
  reversals: SettlementItem;
  /** Vouchers that the platform is liable for. */
  vouchers: SettlementItem;
  /** External payments, whose money the partner has. */
  externalPayments: SettlementItem;
  refunds: SettlementItem;
  /** Refunds whose money came back after they had succeeded. */
  refundReturns: SettlementItem;
  fees: SettlementItem;
  /** Fees of the payments in `reversals`. */
  feeReversals: SettlementItem;
  /** Amounts that the acquirer deducted because of disputes. */
  disputes: SettlementItem;
  /** Amounts of disputes that the acquirer returned. */
  disputeReversals: SettlementItem;
  /** Negative if refunds, fees and disputes exceed the payments. */
  net: number;
}

/** A seal of the platform's ledger. Store it to detect a later change of the ledger. */
export interface SettlementSeal {
  /** 0 if the ledger was empty. */
  number: number;
  /** Hex SHA-256. */
  hash: string;
}

/** The settlement statement of a day, or of several days. */
export interface Settlement {
  /** First day in your time zone, as in 2026-11-20. */
  from: string;
  /** Last day in your time zone. */
  to: string;
  /** IANA name of your time zone on the last day. */
  timeZone: string;
  /** ISO 8601 UTC: the beginning of the first day. */
  fromUTCDate: string;
  /** ISO 8601 UTC: the end of the last day. */
  untilUTCDate: string;
  mode: 'test' | 'live';
  /** `final` if the statement can no longer change. */
  status: 'provisional' | 'final';
  /** The seal that covers the end of the last day. Only if the statement is final. */
  seal?: SettlementSeal;
  totals: SettlementTotals[];
}

const TEXTS = ['from', 'to', 'timeZone', 'fromUTCDate', 'untilUTCDate'] as const;

export function readSettlement(body: Record<string, unknown>): Settlement {
  const { mode, status, totals, seal } = body;
  if (mode !== 'test' && mode !== 'live') throw new MalformedPaymentError('mode');
  if (status !== 'provisional' && status !== 'final') throw new MalformedPaymentError('status');
  if (!Array.isArray(totals)) throw new MalformedPaymentError('totals');
  return {
    ...(Object.fromEntries(TEXTS.map((name) => [name, readText(body, name)])) as Record<
      (typeof TEXTS)[number],
      string
    >),
    ...{ mode, status },
    ...(seal === undefined ? {} : { seal: readSeal(seal) }),
    totals: totals.map(readTotals),
  };
}

function readSeal(value: unknown): SettlementSeal {
  const seal = readObject(value, 'seal');
  return { number: readWholeNumber(seal, 'number', Number.MAX_SAFE_INTEGER), hash: readText(seal, 'hash') };
}

function readTotals(value: unknown): SettlementTotals {
  const totals = readObject(value, 'totals');
  const { net } = totals;
  if (!Number.isSafeInteger(net)) throw new MalformedPaymentError('net');
  const readItem = (name: string): SettlementItem => {
    const value = readObject(totals[name], name);
    return {
      count: readWholeNumber(value, 'count', Number.MAX_SAFE_INTEGER),
      amount: readWholeNumber(value, 'amount', Number.MAX_SAFE_INTEGER),
    };
  };
  return {
    currencyISOCode: readText(totals, 'currencyISOCode'),
    payments: readItem('payments'),
    reversals: readItem('reversals'),
    vouchers: readItem('vouchers'),
    externalPayments: readItem('externalPayments'),
    refunds: readItem('refunds'),
    refundReturns: readItem('refundReturns'),
    fees: readItem('fees'),
    feeReversals: readItem('feeReversals'),
    disputes: readItem('disputes'),
    disputeReversals: readItem('disputeReversals'),
    net: net as number,
  };
}
