import { createHash } from 'node:crypto';
import { globSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lastLines } from '../svc/base/files.ts';
import { runProgram } from '../svc/base/run-program.ts';

/** A command that ran for the release. */
export interface CommandResult {
  readonly name: string;
  readonly command: string;
  readonly exitCode: number;
  readonly seconds: number;
  /** Last line of the output: for the tests, how many passed and failed. */
  readonly lastLine: string;
}

/** Runs a command and writes its output to a file. */
export async function runCommand(
  name: string,
  [file, ...args]: readonly [string, ...string[]],
  { root, logFile }: { root: string; logFile: string },
): Promise<CommandResult> {
  const started = performance.now();
  const exitCode = await runProgram(file, args, { cwd: root, logFile });
  const seconds = Math.round((performance.now() - started) / 100) / 10;
  const withoutRoot = (text: string): string => text.replaceAll(`${root}/`, '');
  const [lastLine = ''] = lastLines(logFile, 1);
  return {
    name,
    command: withoutRoot([file, ...args].join(' ')),
    exitCode,
    seconds,
    lastLine: withoutRoot(lastLine),
  };
}

/** Writes `release.json`: the commit, the commands with their results, and the checksum of each file of the release. */
export function writeRecord(
  folder: string,
  { version, commit, results }: { version: string; commit: string; results: readonly CommandResult[] },
): string {
  const files = globSync('**/*', { cwd: folder })
    .filter((file) => file !== 'release.json' && statSync(join(folder, file)).isFile())
    .sort()
    .map((file) => {
      const content = readFileSync(join(folder, file));
      return { file, bytes: content.length, sha256: createHash('sha256').update(content).digest('hex') };
    });
  const record = { version, commit, node: process.version, commands: results, files };
  writeFileSync(join(folder, 'release.json'), `${JSON.stringify(record, null, 2)}\n`);
  return `release.json: ${results.length} commands, ${files.length} files`;
}
