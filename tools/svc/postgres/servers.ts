/** The PostgreSQL servers of a platform: those of the services in `ownDatabases`, and one of all other services. */
import { join } from 'node:path';
import { pathsOf, type Settings } from '../settings/settings.ts';
import { findPostgres } from './postgres-process.ts';

export interface DatabaseServer {
  readonly name: string;
  readonly directory: string;
  readonly port: number;
  readonly logFile: string;
}

/** The common server is the last one, so that its data exists only after the data of all others. */
export function databaseServers(settings: Settings): DatabaseServer[] {
  const { ports, ownDatabases } = settings;
  const { databases, log, postgres, postgresLog } = pathsOf(settings);
  return [
    ...ownDatabases.map((service) => ({
      name: `PostgreSQL of ${service}`,
      directory: join(databases, service),
      port: ports.ownDatabases[service],
      logFile: join(log, `postgres-${service}.log`),
    })),
    { name: 'PostgreSQL', directory: postgres, port: ports.postgres, logFile: postgresLog },
  ];
}

export function areAllDatabasesRunning(settings: Settings): boolean {
  return databaseServers(settings).every(({ directory }) => findPostgres(directory) !== undefined);
}
