/**
 * Installs the alternatives that others use, each from the lock file beside this file into its own cache in the data
 * folder, so that the project itself never depends on them.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ROOT } from '../platforms/platform.ts';

export type Alternative = 'bullmq' | 'graphile-worker' | 'vendure';

const FILES = ['package.json', 'package-lock.json'];

/** Installs a package unless the cache has the same lock file. Returns the folder with its node_modules. */
export function installAlternative(name: Alternative): string {
  const source = join(import.meta.dirname, name);
  const folder = join(ROOT, '.data', 'bench', 'cache', name);
  const isInstalled = existsSync(join(folder, 'node_modules')) && FILES.every((file) => isSame(source, folder, file));
  if (isInstalled) return folder;
  mkdirSync(folder, { recursive: true });
  for (const file of FILES) copyFileSync(join(source, file), join(folder, file));
  execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  return folder;
}

/** Loads a package from such a folder. The caller gives its type, because its types are not installed here. */
export function loadAlternative<Module>(folder: string, name: string): Module {
  return createRequire(join(folder, 'package.json'))(name) as Module;
}

function isSame(source: string, folder: string, file: string): boolean {
  return existsSync(join(folder, file)) && readFileSync(join(source, file)).equals(readFileSync(join(folder, file)));
}
