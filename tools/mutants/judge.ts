/** Judges mutants: runs the specs of the mutant's package with it. A mutant survives if they pass. */
import { spawn, spawnSync } from 'node:child_process';
import { SvcError } from '../svc/base/svc-error.ts';
import { environmentFor } from '../svc/processes/env-files.ts';
import type { Mutant } from './mutations/find-mutants.ts';
import { selectSpecs } from './selection.ts';

const JEST = ['node_modules/jest/bin/jest.js', '--config', 'tools/mutants/jest/jest.config.mjs'];
/** A run with a mutant that takes this many times as long as without it is an endless loop, so it is killed. */
const MAX_SLOWDOWN = 5;
const MIN_LIMIT_MS = 60_000;
const MAX_TOTAL_MS = 3_600_000;

/** Judges the mutants of files of one app or lib. */
export class Judge {
  private readonly root: string;
  private readonly specsOf: ReadonlyMap<string, readonly string[]>;
  private limitMs: Promise<number> | undefined;

  constructor(root: string, files: readonly string[]) {
    this.root = root;
    this.specsOf = new Map(files.map((file) => [file, listSpecs(root, file)]));
  }

  get needsPostgres(): boolean {
    return [...this.specsOf.values()].flat().some((spec) => spec.endsWith('.int-spec.ts'));
  }

  /** @param env the address of a PostgreSQL server on which nothing else runs */
  async survives(mutant: Mutant, env: Readonly<Record<string, string>>): Promise<boolean> {
    const limitMs = await (this.limitMs ??= this.measureLimit(env));
    const envWithMutant = { ...env, SVC_MUTANT: JSON.stringify(mutant) };
    return (await this.findFailure(this.specsOf.get(mutant.file)!, envWithMutant, limitMs)) === undefined;
  }

  /** Throws if a spec fails without a mutant, because it cannot judge one. */
  private async measureLimit(env: Readonly<Record<string, string>>): Promise<number> {
    const from = performance.now();
    const failure = await this.findFailure([...new Set([...this.specsOf.values()].flat())], env, MAX_TOTAL_MS);
    if (failure !== undefined) throw new SvcError(`these tests must pass without a mutant: ${failure}`);
    return Math.max(MIN_LIMIT_MS, MAX_SLOWDOWN * Math.round(performance.now() - from));
  }

  /** Jest's output, if a test fails or the run takes too long. */
  private async findFailure(
    specs: readonly string[],
    env: Readonly<Record<string, string>>,
    timeout: number,
  ): Promise<string | undefined> {
    if (specs.length === 0) return undefined;
    const options = ['--runInBand', '--bail', '--forceExit', '--silent'];
    const child = spawn(process.execPath, [...JEST, ...options, '--runTestsByPath', ...specs], {
      cwd: this.root,
      env: environmentFor(env),
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout,
      killSignal: 'SIGKILL',
    });
    let output = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
    const code = await new Promise((resolve) => child.once('close', resolve));
    return code === 0 ? undefined : output;
  }
}

/** The specs that judge the mutants of a file. */
function listSpecs(root: string, file: string): string[] {
  const args = [...JEST, '--listTests', '--findRelatedTests', file];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new SvcError(`Jest does not list the specs of ${file}: ${stderr}`);
  const related = stdout.split('\n').filter((line) => line !== '');
  return selectSpecs(
    file,
    related.map((path) => path.slice(root.length + 1)),
  ).map((spec) => `${root}/${spec}`);
}
