import type { DataSource } from 'typeorm';

/** The rows of the generation that serves queries. */
export interface ServingRows {
  readonly payments: readonly { readonly payment_reference: string }[];
  readonly counts: readonly unknown[];
}

/** Reads all rows of the serving generation, without their column `generation`. */
export async function readServingRows(dataSource: DataSource): Promise<ServingRows> {
  const serving = `generation = (SELECT generation FROM generations WHERE state = 'serving')`;
  const readTable = async <T>(table: string, order: string): Promise<T[]> =>
    (
      await dataSource.query<{ row: T }[]>(
        `SELECT to_jsonb(t) - 'generation' AS row FROM ${table} t WHERE ${serving} ORDER BY ${order}`,
      )
    ).map(({ row }) => row);
  return {
    payments: await readTable('payments', 'payment_reference'),
    counts: await readTable('payment_counts', 'organisation_id, mode, customer_key, level, bucket'),
  };
}
