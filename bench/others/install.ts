/**
 * What people would use instead, each from the lock file beside this one into a cache of its own in the data folder:
 * the project itself never depends on them.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ROOT } from '../platforms/platform.ts';

export type Other = 'bullmq' | 'graphile-worker' | 'vendure';

const FILES = ['package.json', 'package-lock.json'];

/** Installs it unless that was done with the same lock file; returns the folder that has its node_modules. */
export function installOther(name: Other): string {
  const source = join(import.meta.dirname, name);
  const folder = join(ROOT, '.data', 'bench', 'cache', name);
  const isThere = existsSync(join(folder, 'node_modules')) && FILES.every((file) => isSame(source, folder, file));
  if (isThere) return folder;
  mkdirSync(folder, { recursive: true });
  for (const file of FILES) copyFileSync(join(source, file), join(folder, file));
  execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  return folder;
}

/** Loads a package out of such a folder. Its types are what the caller says they are: they are not installed here. */
export function loadOther<Module>(folder: string, name: string): Module {
  return createRequire(join(folder, 'package.json'))(name) as Module;
}

function isSame(source: string, folder: string, file: string): boolean {
  return existsSync(join(folder, file)) && readFileSync(join(source, file)).equals(readFileSync(join(folder, file)));
}
