/** The payment page's scripts and style, which hosted-gateway reads when it starts. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readJson } from '../base/files.ts';

const FOLDER = join('apps', 'hosted-gateway');

export class PageBuild {
  /** The source files of the last build, relative to the root. Empty if the app has no page to build. */
  inputs: ReadonlySet<string> = new Set();
  private readonly root: string;
  private readonly isNeeded: boolean;

  constructor(root: string, app: string) {
    this.root = root;
    this.isNeeded = app === 'hosted-gateway';
  }

  /** Does nothing if no input has changed. Returns the errors as texts. */
  async run(): Promise<string[]> {
    if (!this.isNeeded) return [];
    try {
      const script = join(this.root, FOLDER, 'browser', 'build.ts');
      await promisify(execFile)(process.execPath, [script], { cwd: this.root });
      const inputs = readJson(join(this.root, FOLDER, 'dist', 'pay-assets', 'inputs.json'));
      this.inputs = new Set((inputs as { readonly files: readonly string[] }).files);
      return [];
    } catch (error) {
      return [(error as { readonly stderr?: string }).stderr?.trim() || String(error)];
    }
  }
}
