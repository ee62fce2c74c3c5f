/**
 * Starts a Redis for the benchmark with common settings for durability: an append-only file that is synced once a
 * second.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { waitUntil } from '../../tools/svc/base/wait-until.ts';
import { installPackages } from '../../tools/svc/install/apt.ts';
import { findOnPath, isExecutable } from '../../tools/svc/install/find-on-path.ts';
import { ROOT } from '../platforms/platform.ts';

const findRedis = (): string | undefined =>
  findOnPath(['redis-server', 'valkey-server'], process.env['PATH'] ?? '', isExecutable);

export async function startRedis(
  folder: string,
  port: number,
): Promise<{ address: string; pid: number; stop(): Promise<void> }> {
  if (findRedis() === undefined)
    await installPackages(['redis-server'], {
      root: ROOT,
      logFile: join(folder, 'apt.log'),
      hint: 'install redis-server',
      isInstalled: () => findRedis() !== undefined,
    });
  const settings = { port, bind: '127.0.0.1', dir: folder, appendonly: 'yes', appendfsync: 'everysec', save: '' };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
  if (await isListening(port)) throw new Error(`Port ${port} is in use, perhaps by a killed run.`);
  const server = spawn(findRedis()!, args, { stdio: 'ignore' });
  const isReady = await waitUntil(async () => ((await isListening(port)) ? true : undefined), {
    withinSeconds: 10,
    everyMilliseconds: 50,
  });
  if (isReady !== true) throw new Error('Redis did not start.');
  return {
    address: `redis://127.0.0.1:${port}`,
    pid: server.pid!,
    stop: async () => {
      server.kill('SIGTERM');
      await once(server, 'exit');
    },
  };
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
