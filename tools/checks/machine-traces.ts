import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Folders that exist on most machines, so a path below them does not identify this machine. The images of
 * docker/Dockerfile use them too.
 */
const COMMON_FOLDERS = ['/', '/root'];

/**
 * Finds texts in committed files that are only valid on this machine: paths of its folders, the host of its package
 * registry, and download addresses in a lock file. Returns the lines.
 */
export function findMachineTraces(root: string): string[] {
  const parent = dirname(root);
  const found = COMMON_FOLDERS.includes(parent) ? [] : findLines(root, `${parent}/`);
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
