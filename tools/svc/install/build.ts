import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { lastLines } from '../base/files.ts';
import { runProgram } from '../base/run-program.ts';
import { SvcError } from '../base/svc-error.ts';

/** Compiles what has changed, then bundles the script of the payment page and the programs that ./svc starts. Returns what was done, in words. */
export async function build(root: string, logFile: string): Promise<string> {
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  await buildStep('the compiler', [compiler, '--build'], root, logFile);
  await buildPage(root, logFile);
  await buildStep('the bundle', [join(root, 'tools', 'bundle', 'bundle.ts')], root, logFile);
  return 'compiled';
}

/** The payment page's script and style, which hosted-gateway reads when it starts, and the reference. Needs no compiled code. */
export async function buildPage(root: string, logFile: string): Promise<string> {
  const page = join(root, 'apps', 'hosted-gateway', 'browser', 'build.ts');
  if (existsSync(page)) await buildStep('the payment page', [page], root, logFile);
  const reference = join(root, 'tools', 'reference', 'site.ts');
  if (existsSync(reference)) await buildStep('the pages of the reference', [reference], root, logFile);
  return 'built';
}

async function buildStep(what: string, args: string[], root: string, logFile: string): Promise<void> {
  const code = await runProgram(process.execPath, args, { cwd: root, logFile });
  if (code === 0) return;
  for (const line of lastLines(logFile, 12)) console.error(`    ${line}`);
  throw new SvcError(`${what} reported errors`, { hint: `see above and ${logFile}` });
}
