/** Parser of a day's settlement statement. Amounts are cents. */
import { MalformedPaymentError, readObject, readText, readWhole } from '../hosted-payment.js';

/** Movements of one type. */
export interface SettlementItem {
  count: number;
  amount: number;
}

/** One currency of a day: net = payments + vouchers + externalPayments − refunds − fees. */
export interface SettlementTotals {
  /** ISO 4217. */
  currencyISOCode: string;
  payments: SettlementItem;
  /** Vouchers that the platform is liable for. */
  vouchers: SettlementItem;
  /** External payments: the partner has the money. */
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
  /** True: it never changes. */
  closed: boolean;
  /** Of a closed day: the seal of the platform's ledger. Store it to prove a later change. */
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
  const item = (name: string): SettlementItem => {
    const read = readObject(totals[name], name);
    return {
      count: readWhole(read, 'count', Number.MAX_SAFE_INTEGER),
      amount: readWhole(read, 'amount', Number.MAX_SAFE_INTEGER),
    };
  };
  return {
    currencyISOCode: readText(totals, 'currencyISOCode'),
    payments: item('payments'),
    vouchers: item('vouchers'),
    externalPayments: item('externalPayments'),
    refunds: item('refunds'),
    fees: item('fees'),
    net: net as number,
  };
}
