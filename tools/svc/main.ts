/** The entry of ./svc: understands the command, runs it, and says in one line what went wrong. */
import { dirname, join } from 'node:path';
import { admin } from './admin/admin.ts';
import { HELP, parseCommand } from './arguments.ts';
import type { Command } from './arguments.ts';
import { demoEnv } from './demo/demo-env.ts';
import { down } from './platform/down.ts';
import { showLogs } from './processes/logs.ts';
import { prepare } from './install/prepare.ts';
import { runProgram } from './base/run-program.ts';
import { restart } from './platform/restart.ts';
import { makeDataDir, readSettings, resolveDataDir } from './base/settings.ts';
import { status } from './platform/status.ts';
import { createSteps } from './base/steps.ts';
import { SvcError, asSvcError } from './base/svc-error.ts';
import { test } from './test/test.ts';
import { up } from './platform/up.ts';

// A reader that has seen enough (| head) is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

const root = join(import.meta.dirname, '..', '..');

try {
  process.exitCode = await run(parseCommand(process.argv.slice(2)));
} catch (error) {
  process.exitCode = report(error);
}
// Sockets kept alive by fetch, or a step that an interruption left behind, must not hold the command back.
process.exit();

async function run(command: Command): Promise<number> {
  if (command.name === 'help') {
    process.stdout.write(HELP);
    return 0;
  }
  if (process.platform === 'win32') throw new SvcError('Windows is not supported', { hint: 'use WSL 2' });
  const asked = readSettings(root, process.env, process.cwd());
  const onlyLooks = ['status', 'logs', 'demo', 'admin'].includes(command.name);
  const settings = onlyLooks ? resolveDataDir(asked) : makeDataDir(asked);
  switch (command.name) {
    case 'up':
      return up(settings, command);
    case 'down':
      await down(settings);
      return 0;
    case 'restart':
      await restart(settings, command.app);
      return 0;
    case 'status':
      return (await status(settings)) ? 0 : 1;
    case 'logs':
      await showLogs(settings, command.service, command.follow);
      return 0;
    case 'demo':
      process.stdout.write(demoEnv(settings));
      return 0;
    case 'admin':
      await admin(settings, command.args, process.env);
      return 0;
    case 'test':
      return test(settings, command.args);
    case 'bench':
      return bench(command.args);
    case 'nx':
      return runTool(join(root, 'node_modules', '.bin', 'nx'), command.args);
    case 'npm':
      return runTool(undefined, command.args);
  }

  /** The platforms it measures install and build by themselves. */
  async function bench(args: string[]): Promise<number> {
    await prepare(settings, createSteps(), { build: true });
    process.on('SIGINT', () => undefined);
    return (await runProgram(process.execPath, [join(root, 'bench', 'main.ts'), ...args], { cwd: root })).code;
  }

  async function runTool(script: string | undefined, args: string[]): Promise<number> {
    const quiet = createSteps(process.stderr);
    await prepare(settings, quiet, { build: false });
    // Whatever starts `node` further on (Nx targets, npm scripts) finds the one this process runs on.
    const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}` };
    const cwd = process.cwd().startsWith(root) ? process.cwd() : root;
    const [file, ...words] = script === undefined ? ['npm', ...args] : [process.execPath, script, ...args];
    // Ctrl-C goes to the whole terminal group: the tool decides, and this process waits for it.
    process.on('SIGINT', () => undefined);
    return (await runProgram(file ?? 'npm', words, { cwd, env })).code;
  }
}

function report(error: unknown): number {
  const dataDir = process.env['SVC_DATA_DIR'] ?? join(root, '.data');
  const known = asSvcError(error, `data and logs are in ${dataDir}`);
  console.error(known === undefined ? error : `svc: ${known.line}`);
  if (known === undefined) console.error(`svc: this should not have happened; the logs are in ${join(dataDir, 'log')}`);
  return known?.exitCode ?? 1;
}
