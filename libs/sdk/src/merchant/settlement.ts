/** Types and parser of a day's settlement statement. Amounts are cents. */
import { MalformedPaymentError, readObject, readText, readWholeNumber } from '../hosted-payment.js';

/** Number and total of the movements of one type. */
export interface SettlementItem {
  count: number;
  amount: number;
}

/** The totals of a day in one currency: net = payments + vouchers + externalPayments − refunds − fees. */
export interface SettlementTotals {
  /** ISO 4217. */
  currencyISOCode: string;
  payments: SettlementItem;
  /** Vouchers that the platform is liable for. */
  vouchers: SettlementItem;
  /** External payments, whose money the partner has. */
  externalPayments: SettlementItem;
  refunds: SettlementItem;
  fees: SettlementItem;
  /** Negative if refunds and fees exceed the payments. */
  net: number;
}

/** The settlement statement of a day. */
export interface Settlement {
  /** UTC, as in 2026-11-20. */
  day: string;
  mode: 'test' | 'live';
  /** True if the statement can no longer change. */
  closed: boolean;
  /** Seal of the platform's ledger at the end of a closed day. Store it to detect a later change of the ledger. */
  ledgerRoot?: string;
  totals: SettlementTotals[];
}

export function readSettlement(body: Record<string, unknown>): Settlement {
  const { mode, closed, totals, ledgerRoot } = body;
  if (mode !== 'test' && mode !== 'live') throw new MalformedPaymentError('mode');
  if (typeof closed !== 'boolean') throw new MalformedPaymentError('closed');
  if (!Array.isArray(totals)) throw new MalformedPaymentError('totals');
  return {
    ...{ day: readText(body, 'day'), mode, closed },
    ...(ledgerRoot === undefined ? {} : { ledgerRoot: readText(body, 'ledgerRoot') }),
    totals: totals.map(readTotals),
  };
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
    vouchers: readItem('vouchers'),
    externalPayments: readItem('externalPayments'),
    refunds: readItem('refunds'),
    fees: readItem('fees'),
    net: net as number,
  };
}
