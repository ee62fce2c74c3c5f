/**
 * Starts a PostgreSQL for a system that the benchmark compares with Svc Payments. Its settings are those that `./svc`
 * uses for the platform.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { startPostgres } from '../../tools/svc/postgres/postgres.ts';
import { findPostgres, stopPostgres } from '../../tools/svc/postgres/postgres-process.ts';
import { ROOT } from '../platforms/platform.ts';

export interface Database {
  /** URL to connect as the superuser. */
  readonly address: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** @param folder an empty folder for the data */
export async function startDatabase(folder: string, port: number): Promise<Database> {
  const directory = join(folder, 'postgres');
  const { superuserUrl } = await startPostgres({
    root: ROOT,
    directory,
    port,
    password: randomBytes(16).toString('hex'),
    logFile: join(folder, 'postgres.log'),
    durable: true,
  });
  return {
    address: superuserUrl,
    pid: findPostgres(directory)!.pid,
    stop: async () => void (await stopPostgres(directory)),
  };
}
