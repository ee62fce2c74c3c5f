import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Also exists in the images that docker/Dockerfile builds. */
const COMMON_FOLDERS = ['/', '/root'];

/**
 * Finds traces of a machine in committed files: its folders, the host of its package registry, download addresses in a lock
 * file. They do not work on other machines. Returns the lines.
 */
export function findMachineTraces(root: string): string[] {
  const around = dirname(root);
  const found = COMMON_FOLDERS.includes(around) ? [] : findLines(root, `${around}/`);
  const registry = run(root, 'npm', ['config', 'get', 'registry']);
  if (URL.canParse(registry)) found.push(...findLines(root, new URL(registry).host));
  for (const lock of ['package-lock.json', 'tools/node/package-lock.json']) {
    const path = join(root, lock);
    if (existsSync(path) && readFileSync(path, 'utf8').includes('"resolved": "http'))
      found.push(`${lock}: download addresses`);
  }
  return found;
}

/** Lines that contain the text, in tracked files and in new files that are not ignored. */
function findLines(root: string, text: string): string[] {
  const lines = run(root, 'git', ['grep', '--untracked', '-nIF', '-e', text]);
  return lines === '' ? [] : lines.split('\n').map((line) => line.slice(0, 200));
}

function run(root: string, command: string, args: string[]): string {
  return spawnSync(command, args, { cwd: root, encoding: 'utf8', maxBuffer: 16 * 1024 * 1024 }).stdout.trim();
}
