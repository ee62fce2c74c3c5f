import pg from 'pg';
import type { DataSource } from 'typeorm';
import { isReadOnly } from '../data-source.js';
import { closeClient } from './listening-connection.js';

/** Shorter than the timeout of a readiness probe (3 s), so that the probe gets a response. */
const TIMEOUT_MS = 2_000;

/**
 * A connection outside the pool, through which a health check reaches the database. While all connections of the pool are
 * in use, the service is busy but ready. A health check that waited for a connection of the pool would remove busy replicas
 * from the load balancer, and so move their load to the others.
 *
 * The connection opens with the first check, and is replaced after each failure.
 */
export class ProbeConnection {
  private connection: Promise<pg.Client> | undefined;

  constructor(private readonly dataSource: DataSource) {}

  /** Whether the database accepts no writes. @throws the error of the connection, if the database does not respond */
  async isReadOnly(): Promise<boolean> {
    this.connection ??= this.open();
    try {
      const client = await this.connection;
      const isDatabaseReadOnly = await isReadOnly(async (sql) => (await client.query<ReadOnlySetting>(sql)).rows);
      // The session would stay read-only when the database accepts writes again.
      if (isDatabaseReadOnly) await this.close();
      return isDatabaseReadOnly;
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    const closing = this.connection;
    this.connection = undefined;
    const client = await closing?.catch(() => undefined);
    if (client !== undefined) await closeClient(client);
  }

  private open(): Promise<pg.Client> {
    const { url, applicationName } = this.dataSource.options as { url?: string; applicationName?: string };
    const client = new pg.Client({
      connectionString: url,
      application_name: applicationName,
      connectionTimeoutMillis: TIMEOUT_MS,
      query_timeout: TIMEOUT_MS,
    });
    const connection = client.connect().then(() => client);
    // Without a listener, the error of a lost connection would end the process.
    client.on('error', () => undefined);
    client.once('end', () => {
      if (this.connection === connection) this.connection = undefined;
    });
    return connection;
  }
}

interface ReadOnlySetting {
  readonly transaction_read_only: string;
}
