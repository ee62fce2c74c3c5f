import type { Socket } from 'node:net';
import pg from 'pg';
import type { DataSource } from 'typeorm';

const CLOSE_TIMEOUT_MS = 1_000;

/**
 * A connection that receives the notifications (NOTIFY) of one channel. It is not in the pool, because the pool gives
 * its connections to other callers, and LISTEN belongs to one session.
 */
export class ListeningConnection {
  /** Resolves when the connection is lost or closed. */
  readonly ended: Promise<void>;

  private constructor(private readonly client: pg.Client) {
    this.ended = new Promise((resolve) => client.once('end', resolve));
  }

  /**
   * Connects with the address and the role of the data source.
   *
   * @param channel name of a channel, at most 63 bytes
   */
  static async open(
    { options }: DataSource,
    channel: string,
    onNotification: (payload: string) => void,
  ): Promise<ListeningConnection> {
    const { url, applicationName } = options as { url?: string; applicationName?: string };
    const client = new pg.Client({
      connectionString: url,
      application_name: applicationName,
      connectionTimeoutMillis: 5_000,
      query_timeout: 5_000,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
    });
    // An error without a listener would end the process. Each error of the connection is followed by its end.
    client.on('error', () => undefined);
    client.on('notification', ({ payload = '' }) => onNotification(payload));
    const connection = new ListeningConnection(client);
    try {
      await client.connect();
      await client.query(`LISTEN ${client.escapeIdentifier(channel)}`);
    } catch (error) {
      await connection.close();
      throw error;
    }
    return connection;
  }

  close(): Promise<void> {
    return closeClient(this.client);
  }
}

/** Closes a connection. Destroys the socket if the server does not respond. */
export async function closeClient(client: pg.Client): Promise<void> {
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
  const force = setTimeout(() => stream.destroy(), CLOSE_TIMEOUT_MS);
  // After a failed attempt to connect, the end of the connection is not reported.
  const ended = new Promise((resolve) => client.once('end', resolve));
  await Promise.race([client.end(), ended]).catch(() => undefined);
  clearTimeout(force);
}
