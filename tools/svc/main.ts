/** The entry point of ./svc. Each command loads only its own code, because tests call ./svc hundreds of times. */
import { dirname, join } from 'node:path';
import { type Command, HELP, parseCommand } from './arguments.ts';
import { findIdentity } from './base/process-identity.ts';
import { reportError, SvcError } from './base/svc-error.ts';
import { createDataDir, readSettings, resolveDataDir } from './settings/settings.ts';

// A closed pipe (| head) is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

const root = join(import.meta.dirname, '..', '..');

try {
  process.exitCode = await run(parseCommand(process.argv.slice(2)));
} catch (error) {
  process.exitCode = reportError(error, process.env['SVC_DATA_DIR'] ?? join(root, '.data'));
}
// Otherwise keep-alive sockets of fetch, or an interrupted step, would keep the process running.
process.exit();

async function run(command: Command): Promise<number> {
  if (command.name === 'help') {
    process.stdout.write(HELP);
    return 0;
  }
  if (process.platform === 'win32') throw new SvcError('Windows is not supported', { hint: 'use WSL 2' });
  const configured = readSettings(root, process.env, process.cwd());
  const isReadOnly = ['status', 'logs', 'demo', 'admin'].includes(command.name);
  const settings = isReadOnly ? resolveDataDir(configured) : createDataDir(configured);
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
    case 'bench':
      return runTool(process.execPath, [join(root, 'bench', 'main.ts'), ...command.args], { build: true, cwd: root });
    case 'nx':
      return runTool(process.execPath, [join(root, 'node_modules', '.bin', 'nx'), ...command.args]);
    case 'npm':
      return runTool('npm', command.args);
  }

  async function runTool(
    file: string,
    args: string[],
    { build = false, cwd = process.cwd().startsWith(root) ? process.cwd() : root } = {},
  ): Promise<number> {
    const [{ prepare }, { createSteps }, { runProgram, stopPrograms }] = await Promise.all([
      import('./install/prepare.ts'),
      import('./base/steps.ts'),
      import('./base/run-program.ts'),
    ]);
    await prepare(settings, createSteps(process.stderr), { build });
    // Nx targets and npm scripts start `node` from the PATH, which must be the Node.js of this process.
    const env = {
      ...process.env,
      PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
      // The tool may run in another folder. Tools check whether this process still runs.
      ...(process.env['SVC_DATA_DIR'] ? { SVC_DATA_DIR: settings.dataDir } : {}),
      SVC_CALLER: JSON.stringify({ pid: process.pid, identity: findIdentity(process.pid) }),
    };
    // The terminal also sends Ctrl-C to the tool. This process ignores Ctrl-C, and waits until the tool has ended.
    process.on('SIGINT', () => undefined);
    process.on('SIGTERM', stopPrograms);
    return runProgram(file, args, { cwd, env });
  }
}
