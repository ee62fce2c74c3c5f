/**
 * Runs before the first and after the last test file. Stops every platform of the tests that still runs: the shared
 * platforms (shared-platform.ts) and the platforms of an interrupted run. Their logs stay in .data/e2e, to investigate
 * a failure.
 *
 * Jest loads this file without the module names of the tests, so it imports nothing of this repository.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');
const ON_DISK = join(ROOT, '.data', 'e2e');
/** The same as DATA_DIRS in platform.ts. */
const PLATFORMS = process.env['SVC_TEST_PLATFORMS'] ?? ON_DISK;
/** A data folder with one of these files or folders may belong to a running platform. */
const SIGNS = ['run/services.json', 'run/processes.json', 'postgres', 'rabbitmq'];

export default async function stopPlatforms(): Promise<void> {
  if (!existsSync(PLATFORMS)) return;
  const folders = readdirSync(PLATFORMS).map((name) => join(PLATFORMS, name));
  await Promise.all(folders.filter((folder) => SIGNS.some((sign) => existsSync(join(folder, sign)))).map(stop));
  if (PLATFORMS === ON_DISK) return;
  cpSync(PLATFORMS, ON_DISK, { recursive: true });
  rmSync(PLATFORMS, { recursive: true, force: true });
}

async function stop(folder: string): Promise<void> {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('SVC_'));
  const env = { ...Object.fromEntries(own), SVC_DATA_DIR: folder };
  const child = spawn(join(ROOT, 'svc'), ['down'], { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`./svc down failed (${code}) for ${folder}:\n${output}`);
  for (const name of ['postgres', 'rabbitmq']) rmSync(join(folder, name), { recursive: true, force: true });
}
