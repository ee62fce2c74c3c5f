import type { DataSource } from 'typeorm';

export interface ServingRows {
  readonly payments: readonly { readonly payment_reference: string }[];
  readonly counts: readonly unknown[];
}

/** All rows of the serving generation, without the generation. */
export async function readServingRows(dataSource: DataSource): Promise<ServingRows> {
  const serving = `generation = (SELECT generation FROM generations WHERE state = 'serving')`;
  const rowsOf = async <T>(table: string, order: string): Promise<T[]> =>
    (
      await dataSource.query<{ row: T }[]>(
        `SELECT to_jsonb(t) - 'generation' AS row FROM ${table} t WHERE ${serving} ORDER BY ${order}`,
      )
    ).map(({ row }) => row);
  return {
    payments: await rowsOf('payments', 'payment_reference'),
    counts: await rowsOf('payment_counts', 'organisation_id, mode, customer_id, level, bucket'),
  };
}
