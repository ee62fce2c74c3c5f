/**
 * The entry of ./svc: understands the command, runs it, and says in one line what went wrong. Each command loads its own
 * code only: tests call ./svc hundreds of times.
 */
import { dirname, join } from 'node:path';
import { HELP, parseCommand, type Command } from './arguments.ts';
import { makeDataDir, readSettings, resolveDataDir } from './base/settings.ts';
import { SvcError, asSvcError } from './base/svc-error.ts';

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
  const onlyReads = ['status', 'logs', 'demo', 'admin'].includes(command.name);
  const settings = onlyReads ? resolveDataDir(asked) : makeDataDir(asked);
  switch (command.name) {
    case 'up':
      return (await import('./platform/up.ts')).up(settings, command);
    case 'down':
      await (await import('./platform/down.ts')).down(settings);
      return 0;
    case 'restart':
      await (await import('./platform/restart.ts')).restart(settings, command.app);
      return 0;
    case 'status':
      return (await (await import('./platform/status.ts')).status(settings)) ? 0 : 1;
    case 'logs':
      await (await import('./processes/logs.ts')).showLogs(settings, command.service, command.follow);
      return 0;
    case 'demo':
      process.stdout.write((await import('./demo/demo-env.ts')).demoEnv(settings));
      return 0;
    case 'admin':
      await (await import('./admin/admin.ts')).admin(settings, command.args, process.env);
      return 0;
    case 'test':
      return (await import('./test/test.ts')).test(settings, command.args);
    case 'bench': // The platforms it measures install and build by themselves.
      return runTool([process.execPath, join(root, 'bench', 'main.ts'), ...command.args], { build: true, cwd: root });
    case 'nx':
      return runTool([process.execPath, join(root, 'node_modules', '.bin', 'nx'), ...command.args]);
    case 'npm':
      return runTool(['npm', ...command.args]);
  }

  async function runTool(
    [file = '', ...args]: string[],
    { build = false, cwd = folderOfCaller() } = {},
  ): Promise<number> {
    const [{ prepare }, { createSteps }, { runProgram }] = await Promise.all([
      import('./install/prepare.ts'),
      import('./base/steps.ts'),
      import('./base/run-program.ts'),
    ]);
    await prepare(settings, createSteps(process.stderr), { build });
    // Whatever starts `node` further on (Nx targets, npm scripts) finds the one this process runs on.
    const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}` };
    // Ctrl-C goes to the whole terminal group: the tool decides, and this process waits for it.
    process.on('SIGINT', () => undefined);
    return (await runProgram(file, args, { cwd, env })).code;
  }
}

function folderOfCaller(): string {
  return process.cwd().startsWith(root) ? process.cwd() : root;
}

function report(error: unknown): number {
  const dataDir = process.env['SVC_DATA_DIR'] ?? join(root, '.data');
  const known = asSvcError(error, `data and logs are in ${dataDir}`);
  console.error(known === undefined ? error : `svc: ${known.line}`);
  if (known === undefined) console.error(`svc: this should not have happened; the logs are in ${join(dataDir, 'log')}`);
  return known?.exitCode ?? 1;
}
