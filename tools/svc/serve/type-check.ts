import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const MAX_SHOWN_LINES = 30;

/** Checks the types of an app and its libraries. It has a low priority, because the app must not wait for it. */
export class TypeCheck {
  private readonly root: string;
  private readonly app: string;
  private compiler: ChildProcess | undefined;
  private hadErrors = false;

  constructor(root: string, app: string) {
    this.root = root;
    this.app = app;
  }

  /** Replaces a check that still runs. */
  async run(print: (text: string) => void): Promise<void> {
    await this.stop();
    const tsc = join(this.root, 'node_modules', 'typescript', 'bin', 'tsc');
    const compiler = spawn(process.execPath, [tsc, '--build', '--pretty', 'false', join('apps', this.app)], {
      cwd: this.root,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.compiler = compiler;
    if (compiler.pid !== undefined) setPriority(compiler.pid, constants.priority.PRIORITY_BELOW_NORMAL);
    const output = await text(compiler.stdout);
    if (this.compiler !== compiler) return;
    this.compiler = undefined;
    const errors = output.trim().split('\n').slice(0, MAX_SHOWN_LINES).join('\n');
    if (errors !== '') print(`The types have errors (the app runs nevertheless):\n${errors}`);
    else if (this.hadErrors) print('The types are correct again');
    this.hadErrors = errors !== '';
  }

  async stop(): Promise<void> {
    const { compiler } = this;
    this.compiler = undefined;
    if (compiler?.pid === undefined || compiler.exitCode !== null || compiler.signalCode !== null) return;
    compiler.kill('SIGKILL');
    await once(compiler, 'exit');
  }
}
