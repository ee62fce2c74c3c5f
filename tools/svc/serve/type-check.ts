/**
 * Checks the types of an app and its libraries after each change, with the compiler's own watch mode. It has a low
 * priority, because the app must not wait for it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const MAX_SHOWN_LINES = 30;

export class TypeCheck {
  private readonly root: string;
  private readonly app: string;
  private compiler: ChildProcess | undefined;
  private errors: string[] = [];
  private hadErrors = false;

  constructor(root: string, app: string) {
    this.root = root;
    this.app = app;
  }

  /** Does nothing if it already runs. */
  start(print: (text: string) => void): void {
    if (this.compiler !== undefined) return;
    const endWithParent = `--import=${join(import.meta.dirname, 'end-with-parent.ts')}`;
    const tsc = join(this.root, 'node_modules', 'typescript', 'bin', 'tsc');
    const options = ['--build', '--watch', '--preserveWatchOutput', '--pretty', 'false'];
    this.compiler = spawn(process.execPath, [endWithParent, tsc, ...options, join('apps', this.app)], {
      cwd: this.root,
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    });
    if (this.compiler.pid !== undefined) setPriority(this.compiler.pid, constants.priority.PRIORITY_BELOW_NORMAL);
    createInterface({ input: this.compiler.stdout! }).on('line', (line) => this.read(line, print));
  }

  async stop(): Promise<void> {
    const { compiler } = this;
    if (compiler?.pid === undefined || compiler.exitCode !== null || compiler.signalCode !== null) return;
    compiler.kill('SIGKILL');
    await once(compiler, 'exit');
  }

  /** The compiler prints the errors, and at last their number. */
  private read(line: string, print: (text: string) => void): void {
    const [, count] = /Found (\d+) errors?\. Watching for file changes/.exec(line) ?? [];
    if (/Starting (incremental )?compilation/.test(line)) this.errors = [];
    else if (count === undefined && line !== '') this.errors.push(line);
    if (count === undefined) return;
    const shown = this.errors.slice(0, MAX_SHOWN_LINES).join('\n');
    if (count !== '0') print(`The types have errors (${count}; the app runs nevertheless):\n${shown}`);
    else if (this.hadErrors) print('The types are correct again');
    this.hadErrors = count !== '0';
  }
}
