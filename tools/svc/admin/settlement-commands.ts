import { type AdminCommand, modeOf, parameter, segment } from './command.ts';

/** What merchants are owed. */
export const settlementCommands: readonly AdminCommand[] = [
  {
    name: 'settlements show',
    parameters: ['merchantId', 'day'],
    options: { live: 'flag', csv: 'flag' },
    summary: 'what a merchant is owed for a day (UTC, as in 2026-11-20); --csv: each movement; amounts in cents',
    run: async (api, input) => {
      const query = new URLSearchParams({ merchantId: parameter(input, 0), mode: modeOf(input) });
      const path = `/settlements/${segment(parameter(input, 1))}?${query}`;
      if (input.options['csv'] === true) return api.text(path, 'text/csv');
      const statement = (await api.call('GET', path)) as Statement;
      return input.options['json'] === true ? statement : statement.totals.map((totals) => rowOf(statement, totals));
    },
  },
];

interface Item {
  readonly count: number;
  readonly amount: number;
}

interface Totals {
  readonly currencyISOCode: string;
  readonly payments: Item;
  readonly vouchers: Item;
  readonly externalPayments: Item;
  readonly refunds: Item;
  readonly fees: Item;
  readonly net: number;
}

interface Statement {
  readonly day: string;
  readonly mode: string;
  readonly closed: boolean;
  readonly totals: readonly Totals[];
}

/** Signed, so that a line can be added up by eye. */
function rowOf({ day, mode, closed }: Statement, totals: Totals): Record<string, unknown> {
  const { currencyISOCode: currency, payments, vouchers, externalPayments, refunds, fees, net } = totals;
  return {
    ...{ day, mode, books: closed ? 'closed' : 'open', currency },
    payments: `${payments.amount} (${payments.count})`,
    vouchers: `${vouchers.amount} (${vouchers.count})`,
    external: `${externalPayments.amount} (${externalPayments.count})`,
    refunds: `-${refunds.amount} (${refunds.count})`,
    fees: `-${fees.amount} (${fees.count})`,
    net,
  };
}
