/**
 * A copy of the repository, whose sources a test changes. Changes in the repository itself would also reach the other
 * tests that run at the same time. The copy uses the installed packages of the repository.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { waitUntil } from '@svc/testing';
import { ROOT } from './platform.js';

const NOT_COPIED = new Set(['node_modules', '.git', '.data', '.nx']);

export class SourceCopy {
  readonly root = mkdtempSync(join(tmpdir(), 'svc-copy-'));

  constructor() {
    const filter = (path: string): boolean => !NOT_COPIED.has(basename(path)) && path !== join(ROOT, 'dist');
    // With the modification times the compiler knows that the copied output is up to date.
    cpSync(ROOT, this.root, { recursive: true, filter, preserveTimestamps: true, verbatimSymlinks: true });
    for (const folder of ['.', ...foldersOf('apps'), ...foldersOf('libs')]) this.linkPackages(folder);
  }

  /** Replaces a text of a source file. */
  change(file: string, from: string, to: string): void {
    const text = readFileSync(join(this.root, file), 'utf8');
    if (!text.includes(from)) throw new Error(`${file} does not contain ${from}`);
    writeFileSync(join(this.root, file), text.replace(from, to));
  }

  remove(): void {
    rmSync(this.root, { recursive: true });
  }

  /** Packages of the repository are links to `apps` and `libs`, which must be those of the copy. */
  private linkPackages(folder: string): void {
    const installed = join(ROOT, folder, 'node_modules');
    if (!existsSync(installed)) return;
    const target = join(this.root, folder, 'node_modules');
    mkdirSync(join(target, '@svc'), { recursive: true });
    for (const name of readdirSync(installed))
      if (name !== '@svc') symlinkSync(join(installed, name), join(target, name));
    if (folder !== '.') return;
    for (const name of readdirSync(join(installed, '@svc')))
      symlinkSync(readlinkSync(join(installed, '@svc', name)), join(target, '@svc', name));
  }
}

function foldersOf(folder: string): string[] {
  return readdirSync(join(ROOT, folder)).map((name) => join(folder, name));
}

/** A command that serves an app. */
export class ServingCommand {
  output = '';
  readonly process: ChildProcess;

  constructor(copy: SourceCopy, command: readonly [string, ...string[]], env: NodeJS.ProcessEnv) {
    const [file, ...args] = command;
    // The daemon of Nx would outlive the test.
    this.process = spawn(file, args, { cwd: copy.root, env: { ...env, NX_DAEMON: 'false' } });
    for (const stream of [this.process.stdout, this.process.stderr])
      stream?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
  }

  /** How often the app was ready with new sources. */
  get readyCount(): number {
    return this.output.split('is ready with these sources').length - 1;
  }

  async waitUntilReady(count: number): Promise<void> {
    const hasEnded = (): boolean => this.process.exitCode !== null || this.process.signalCode !== null;
    const isOver = (): boolean => hasEnded() || this.readyCount >= count;
    await waitUntil('the app to be ready', 60_000, () => Promise.resolve(isOver())).catch(() => undefined);
    if (this.readyCount < count) throw new Error(`The app was not ready ${count} times:\n${this.output}`);
  }

  /** Sends a signal, if the command still runs, and waits for its end. */
  async end(signal?: NodeJS.Signals): Promise<number | null> {
    const { process: command } = this;
    if (command.exitCode !== null || command.signalCode !== null) return command.exitCode;
    const exit = once(command, 'exit') as Promise<[number | null]>;
    if (signal !== undefined) command.kill(signal);
    return (await exit)[0];
  }
}
