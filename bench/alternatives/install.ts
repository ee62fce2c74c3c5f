/**
 * Installs the alternatives with which the platform is compared. Each has a lock file in a folder beside this file, and
 * is installed into a cache in the data folder, so that the project itself does not depend on it.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ROOT } from '../platforms/platform.ts';

export type Alternative = 'bullmq' | 'graphile-worker' | 'vendure';

const FILES = ['package.json', 'package-lock.json'];

/**
 * Installs an alternative, unless the cache contains it with the same lock file. Returns the folder with its
 * node_modules.
 */
export function installAlternative(name: Alternative): string {
  const source = join(import.meta.dirname, name);
  const folder = join(ROOT, '.data', 'bench', 'cache', name);
  const isInstalled =
    existsSync(join(folder, 'node_modules')) && FILES.every((file) => hasSameContent(source, folder, file));
  if (isInstalled) return folder;
  mkdirSync(folder, { recursive: true });
  for (const file of FILES) copyFileSync(join(source, file), join(folder, file));
  execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  return folder;
}

/**
 * Loads a package from the folder of an alternative. The caller declares its type, because its types are not installed
 * here.
 */
export function loadAlternative<Module>(folder: string, name: string): Module {
  return createRequire(join(folder, 'package.json'))(name) as Module;
}

function hasSameContent(source: string, folder: string, file: string): boolean {
  return existsSync(join(folder, file)) && readFileSync(join(source, file)).equals(readFileSync(join(folder, file)));
}
