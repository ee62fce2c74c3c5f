/** A pool of connections. Every statement has a name, so that each connection prepares it only once. */
import pg from 'pg';

export type Query = <Row extends object>(name: string, text: string, values: unknown[]) => Promise<Row[]>;

export function connect(url: string): { query: Query; end: () => Promise<void> } {
  const pool = new pg.Pool({ connectionString: url, max: 30 });
  return {
    query: async <Row extends object>(name: string, text: string, values: unknown[]) =>
      (await pool.query({ name, text, values })).rows as Row[],
    end: () => pool.end(),
  };
}
