import type { EntityManager } from 'typeorm';

/**
 * Stores the newest version of a row in a read model: inserts the row, or updates it if `version` is higher than the
 * stored version. So the result is the same if events arrive twice, late or out of order.
 *
 * `table` and the column names are constants of the caller, never user input. Returns whether the row changed.
 */
export async function upsertIfNewer(
  tx: EntityManager,
  table: string,
  key: Record<string, unknown>,
  version: number,
  values: Record<string, unknown>,
): Promise<boolean> {
  const row = { ...key, ...values, version };
  const columns = Object.keys(row);
  const changed = columns.filter((column) => !(column in key));
  const rows = await tx.query<unknown[]>(
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map((_, i) => `$${i + 1}`).join(', ')})
     ON CONFLICT (${Object.keys(key).join(', ')}) DO UPDATE SET ${changed.map((column) => `${column} = excluded.${column}`).join(', ')}
     WHERE ${table}.version < excluded.version RETURNING version`,
    Object.values(row),
  );
  return rows.length > 0;
}
