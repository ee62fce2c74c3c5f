/**
 * `node tools/svc/platform/serve.ts <app>` (the `serve` target of Nx): compiles and runs one service, and restarts it
 * when its sources change. It uses the local platform's database and configuration, but its own port, so it can run
 * beside `./svc up`.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createSteps } from '../base/steps.ts';
import { reportError, SvcError } from '../base/svc-error.ts';
import { prepare } from '../install/prepare.ts';
import { findPostgres, stopPostgres } from '../postgres/postgres-process.ts';
import { appVariables, environmentFor } from '../processes/env-files.ts';
import { formatLogLine } from '../processes/log-lines.ts';
import { requireFreePorts } from '../processes/ports.ts';
import {
  createDataDir,
  pathsOf,
  readSettings,
  type Service,
  SERVICES,
  type Settings,
  urlOf,
} from '../settings/settings.ts';

const DRAIN_MS = 15_000;

const root = join(import.meta.dirname, '..', '..', '..');

try {
  await serve(process.argv[2]);
} catch (error) {
  process.exitCode = reportError(error, process.env['SVC_DATA_DIR'] ?? join(root, '.data'));
}
process.exit();

async function serve(name: string | undefined): Promise<void> {
  if (name === 'all-in-one') throw new SvcError('to run all-in-one use ./svc up', { exitCode: 2 });
  const app = SERVICES.find((service) => service === name?.replace(/^@svc\//, ''));
  if (app === undefined)
    throw new SvcError(`there is no app "${name ?? ''}"`, { hint: `there are ${SERVICES.join(', ')}`, exitCode: 2 });
  const settings = createDataDir(readSettings(root, process.env, process.cwd()));
  const port = settings.ports.alone[app];
  await requireFreePorts({ [app]: port });

  let hasStartedPostgres = false;
  try {
    const steps = createSteps();
    await prepare(settings, steps, { build: true });
    const { startDatabase } = await import('./database.ts');
    const secrets = await startDatabase(settings, steps, () => (hasStartedPostgres = true));
    console.log(`\n${app} listens on ${urlOf(port)}; it runs alone, without a broker, and cannot reach other services`);
    console.log('It restarts when its sources change; Ctrl-C stops it.\n');
    await runAndWatch(settings, app, { ...appVariables(settings, secrets)[app], ...addressVariables(app, port) });
  } finally {
    if (hasStartedPostgres && findPostgres(pathsOf(settings).postgres) !== undefined) {
      console.log(`PostgreSQL ${await stopPostgres(pathsOf(settings).postgres)}`);
    }
  }
}

/** Links that these services create must contain the port of this process. */
function addressVariables(app: Service, port: number): Record<string, string> {
  if (app === 'hosted-gateway') return { SVC_GATEWAY_URL: urlOf(port), SVC_CODES_URL: urlOf(port) };
  return app === 'demo-shop' ? { SVC_SHOP_URL: urlOf(port), SVC_SHOP_NOTIFICATIONS_URL: urlOf(port) } : {};
}

/** The compiler writes changed files, and Node.js restarts the service when a loaded file changes. */
async function runAndWatch({ root: cwd }: Settings, app: Service, variables: Record<string, string>): Promise<void> {
  const folder = join(cwd, 'apps', app);
  const script = join(folder, 'dist', 'main.js');
  if (!existsSync(script)) throw new SvcError(`${script} is missing`, { hint: 'the build should have created it' });
  const tsc = join(cwd, 'node_modules', 'typescript', 'bin', 'tsc');
  const compilerArguments = [tsc, '--build', '--watch', '--preserveWatchOutput', folder];
  const compiler = spawn(process.execPath, compilerArguments, { stdio: 'inherit', cwd });
  const service = spawn(process.execPath, ['--watch', '--watch-preserve-output', '--enable-source-maps', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
    cwd,
    env: environmentFor(variables),
  });
  createInterface({ input: service.stdout }).on('line', (line) => console.log(formatLogLine(line)));
  await Promise.race((['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map((name) => once(process, name)));
  await Promise.all([stopChild(compiler), stopChild(service)]);
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), DRAIN_MS);
  await ended;
  clearTimeout(timer);
}
