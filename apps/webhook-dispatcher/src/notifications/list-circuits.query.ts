import type { DataSource } from 'typeorm';

/** An endpoint of a merchant whose last attempts failed (E6). Times are ISO 8601 UTC with milliseconds (C2). */
export interface CircuitSummary {
  merchantId: number;
  /** Host and port. */
  endpoint: string;
  /** Number of consecutive failures, counted by all processes together. */
  failures: number;
  /** Nothing is sent before this time. Then one notification is sent as a probe. Null before the fifth failure. */
  openUntil: string | null;
  /** Number of pending notifications of this endpoint, at most 10 000. */
  pending: number;
}

/** Lists the endpoints with the most failures, at most 100. */
export async function listCircuits(dataSource: DataSource): Promise<{ circuits: CircuitSummary[] }> {
  const circuits = await dataSource.query<CircuitSummary[]>(
    `SELECT merchant_id AS "merchantId", endpoint, failures, open_until AS "openUntil",
            (SELECT count(*)::int FROM (
               SELECT 1 FROM notifications n
                WHERE n.merchant_id = failing.merchant_id AND n.endpoint = failing.endpoint AND n.state = 'pending' LIMIT 10000) AS waiting) AS pending
       FROM (SELECT * FROM circuits ORDER BY failures DESC, merchant_id, endpoint LIMIT 100) AS failing`,
  );
  return { circuits };
}
