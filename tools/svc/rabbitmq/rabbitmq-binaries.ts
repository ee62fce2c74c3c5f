import { delimiter, join } from 'node:path';
import { findOnPath, isExecutable } from '../install/find-on-path.ts';

export interface RabbitMqBinaries {
  readonly server: string;
  /** Erlang's name server: RabbitMQ does not start without one. */
  readonly epmd: string;
}

/**
 * The folder of the server on Debian and Red Hat. The program of the same name on the PATH is a wrapper that switches
 * to the user and the directories of the package.
 */
const PACKAGED = '/usr/lib/rabbitmq/bin';

export function findRabbitMqBinaries(
  path = process.env['PATH'] ?? '',
  isProgram: (file: string) => boolean = isExecutable,
): RabbitMqBinaries | undefined {
  const packaged = join(PACKAGED, 'rabbitmq-server');
  const server = isProgram(packaged) ? packaged : findOnPath(['rabbitmq-server'], path, isProgram);
  const epmd = findOnPath(['epmd'], [path, '/usr/bin', '/usr/local/bin'].join(delimiter), isProgram);
  return server === undefined || epmd === undefined ? undefined : { server, epmd };
}
