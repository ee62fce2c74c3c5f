import type { DataSource } from 'typeorm';
import type { PaymentScope } from '../viewer/payment-scope.js';

/** The merchant and mode of a list. */
export type ListKey = Pick<PaymentScope, 'merchantId' | 'mode'>;

export function keyOfList({ merchantId, mode }: ListKey): string {
  return `${merchantId} ${mode}`;
}

/** $1 merchants, $2 their modes. */
const COUNT = `
  SELECT c.merchant_id AS "merchantId", c.mode, c.changes
    FROM unnest($1::bigint[], $2::text[]) AS l (merchant_id, mode)
    JOIN list_changes c ON c.merchant_id = l.merchant_id AND c.mode = l.mode`;

/** How often events have changed the payments of each list, by {@link keyOfList}. Absent: never. */
export async function countChanges(
  dataSource: DataSource,
  lists: readonly ListKey[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await dataSource.query<(ListKey & { changes: number })[]>(COUNT, [
    lists.map(({ merchantId }) => merchantId),
    lists.map(({ mode }) => mode),
  ]);
  return new Map(rows.map((row) => [keyOfList(row), row.changes]));
}
