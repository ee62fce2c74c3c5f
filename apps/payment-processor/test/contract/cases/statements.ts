import type { StatementLine } from '../../../src/acquirers/acquirer.js';
import type { ContractCases } from './contract-case.js';

export const STATEMENT_CASES: ContractCases = {
  'the statement of a day lists all movements of money': async (world) => {
    const { clock } = world.processor;
    // All movements are on one day.
    clock.advance(86_400_000 - (clock.now().getTime() % 86_400_000));
    const day = clock.nowISO().slice(0, 10);
    const paid = await world.pay();
    await world.pay('declined: card.declined');
    await world.refund(paid.paymentReference, 345);
    const route = { mode: 'test', accountReference: `merchant-${world.merchantId}` } as const;
    // Only acquirers with statements of days have this case.
    const readStatement = world.acquirer.readStatement!.bind(world.acquirer);
    const page = await readStatement(day, route);
    const line = { paymentReference: paid.paymentReference, currencyISOCode: 'ZAR' };
    expect(page).toMatchObject({
      lines: [
        { ...line, kind: 'charge', amount: 12_345 },
        { ...line, kind: 'refund', amount: 345 },
      ] satisfies Partial<StatementLine>[],
      next: undefined,
    });
    expect(await readStatement(day, { ...route, accountReference: 'other' })).toMatchObject({
      lines: [],
    });
  },
};
