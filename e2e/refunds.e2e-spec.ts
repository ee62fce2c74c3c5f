/** Refunds with the curl commands of the guide, and the merchant's statement after them. */
import { waitUntil } from '@svc/testing';
import { formatAmount } from '../tools/svc/admin/output/table-columns.ts';
import { documentedBlocks } from './platform/documented.js';
import { type Platform, run } from './platform/platform.js';
import { sharedPlatform } from './platform/shared-platform.js';

/** Runs a block of a guide, which must succeed, and returns its output. */
async function runGuide(platform: Platform, name: string): Promise<string> {
  const [block] = documentedBlocks(name);
  const { code, output } = await run('bash', ['-euo', 'pipefail', '-c', block!], platform.env());
  expect([code, code === 0 ? '' : output]).toEqual([0, '']);
  return output;
}

it('the curl commands of the guide refund a payment as described, also when they are repeated', async () => {
  const platform = await sharedPlatform('embedded');
  for (let times = 0; times < 2; times++) {
    const output = await runGuide(platform, 'refund');
    const lines = output.split('\n').filter((line) => /^[[{]/.test(line));
    const [refund, repeated, secondRefund, listed] = lines.map(
      (line) => JSON.parse(line) as { refundReference: string },
    );
    expect(refund).toMatchObject({ amount: 2_500, status: 'succeeded' });
    expect(repeated).toEqual(refund);
    expect(secondRefund).toMatchObject({ amount: 6_450, status: 'succeeded' });
    expect(listed).toEqual([secondRefund, refund]);
    const { code: exitCode, output: table } = await platform.svc('admin', 'refunds', 'list');
    expect([exitCode, table.includes(refund!.refundReference)]).toEqual([0, true]);
  }
});

it('the settlement statement that the guide’s commands print has the net amount of the ledger', async () => {
  const platform = await sharedPlatform('embedded');
  const { merchantId } = platform.demo.merchants[0]!;
  const balance = async (day: string): Promise<number> => {
    const payable = `test:merchant:${merchantId}:payable`;
    const [row] = await platform.sql<{ balance: string }>(
      `SELECT coalesce(sum(CASE WHEN credit_account = $1 THEN amount ELSE -amount END), 0) AS balance
         FROM payment_processor.transfers WHERE $1 IN (credit_account, debit_account) AND created_at >= $2`,
      [payable, new Date(Date.parse(day) - 2 * 3_600_000)],
    );
    return Number(row!.balance);
  };
  // Another test may pay the same merchant meanwhile, and midnight may pass: the statement is that of the new day, which
  // then needs a movement.
  const isEqual = await waitUntil('a statement between two equal balances', 20_000, async () => {
    await runGuide(platform, 'refund');
    // The merchant's day: Johannesburg is two hours ahead of UTC.
    const day = new Date(Date.now() + 2 * 3_600_000).toISOString().slice(0, 10);
    const before = await balance(day);
    await runGuide(platform, 'settlement');
    const output = await runGuide(platform, 'settlement');
    const after = await balance(day);
    const lines = output.split('\n');
    const { totals } = JSON.parse(lines.find((line) => line.startsWith('{')) ?? '{}') as { totals: { net: number }[] };
    const amounts = lines.filter((line) => line.startsWith(`"${day}",`)).map((line) => Number(line.split(',').at(-1)));
    const net = totals[0]!.net;
    const table = lines.some((line) => line.startsWith('net ') && line.endsWith(`  ${formatAmount(net)}`));
    return before === after && net === before && table && amounts.reduce((sum, amount) => sum + amount, 0) === net;
  });
  expect(isEqual).toBe(true);
});
