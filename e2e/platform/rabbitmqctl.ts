/** The administration tool of the platform's own RabbitMQ, which has its own Erlang name server and Erlang cookie. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findRabbitMqBinaries } from '../../tools/svc/rabbitmq/rabbitmq-binaries.ts';
import { type Platform, run } from './platform.js';

/** Runs rabbitmqctl and returns its output. */
export async function rabbitmqctl(platform: Platform, ...args: string[]): Promise<string> {
  const binaries = findRabbitMqBinaries();
  if (binaries === undefined) throw new Error('This test needs a RabbitMQ that is installed on this machine.');
  const directory = join(platform.dataDir, 'rabbitmq');
  const { epmd } = JSON.parse(readFileSync(join(directory, 'broker.json'), 'utf8')) as { epmd?: { port: number } };
  const { code, output } = await run(join(dirname(binaries.server), 'rabbitmqctl'), ['--quiet', ...args], {
    PATH: `${process.env['PATH']}:${dirname(binaries.epmd)}:/usr/bin:/bin`,
    HOME: directory, // has the cookie
    LC_ALL: 'C.UTF-8',
    ERL_EPMD_PORT: String(epmd?.port),
    RABBITMQ_CONF_ENV_FILE: '/dev/null',
    RABBITMQ_NODENAME: 'svc@localhost',
  });
  if (code !== 0) throw new Error(`rabbitmqctl ${args.join(' ')} failed (${code}):\n${output}`);
  return output;
}

/** Number of publishing connections that RabbitMQ blocks because memory is low. */
export async function blockedConnections(platform: Platform): Promise<number> {
  const states = await rabbitmqctl(platform, 'list_connections', 'state');
  return states.split('\n').filter((state) => state.trim() === 'blocked').length;
}
