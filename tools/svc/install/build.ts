import { join } from 'node:path';
import { lastLines } from '../base/files.ts';
import { runProgram } from '../base/run-program.ts';
import { SvcError } from '../base/svc-error.ts';

/** Compiles incrementally, then bundles the payment page's script and the programs. Returns the result as a text. */
export async function build(root: string, logFile: string): Promise<string> {
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  await buildStep('the compiler', [compiler, '--build'], root, logFile);
  await buildPage(root, logFile);
  await buildStep('the bundle', [join(root, 'tools', 'bundle', 'bundle.ts')], root, logFile);
  return 'compiled';
}

/** Builds the payment page’s script and style, and the reference. Needs no compiled code. */
export async function buildPage(root: string, logFile: string): Promise<string> {
  await buildStep('the payment page', [join(root, 'apps', 'hosted-gateway', 'browser', 'build.ts')], root, logFile);
  await buildStep('the pages of the reference', [join(root, 'tools', 'reference', 'site.ts')], root, logFile);
  return 'built';
}

async function buildStep(name: string, args: string[], root: string, logFile: string): Promise<void> {
  const code = await runProgram(process.execPath, args, { cwd: root, logFile });
  if (code === 0) return;
  for (const line of lastLines(logFile, 12)) console.error(`    ${line}`);
  throw new SvcError(`${name} reported errors`, { hint: `see above and ${logFile}` });
}
