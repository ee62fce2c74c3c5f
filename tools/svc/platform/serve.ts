/**
 * `node tools/svc/platform/serve.ts <app>` (the `serve` target of Nx): one service by itself, compiled and started again when
 * its sources change. It gets the local platform's database and configuration and a port of its own, so it may run
 * beside `./svc up`.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync, readdirSync, watch } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { environmentFor, variablesOf } from '../processes/env-files.ts';
import { formatLogLine } from '../processes/log-lines.ts';
import { findPostgres, stopPostgres } from '../postgres/postgres-process.ts';
import { prepare } from '../install/prepare.ts';
import { SERVICES, makeDataDir, pathsOf, readSettings, urlOf } from '../base/settings.ts';
import type { Service, Settings } from '../base/settings.ts';
import { createSteps } from '../base/steps.ts';
import { SvcError, asSvcError } from '../base/svc-error.ts';
import { requireFreePorts } from '../processes/taken-ports.ts';

/** The compiler writes a file after another: one restart for all of them. */
const SETTLE_MILLISECONDS = 300;
const DRAIN_MILLISECONDS = 15_000;

const root = join(import.meta.dirname, '..', '..', '..');

try {
  await serve(process.argv[2]);
} catch (error) {
  const known = asSvcError(error, 'its data folder is .data, or what SVC_DATA_DIR names');
  console.error(known === undefined ? error : `svc: ${known.line}`);
  process.exitCode = known?.exitCode ?? 1;
}
process.exit();

async function serve(name: string | undefined): Promise<void> {
  if (name === 'all-in-one') throw new SvcError('all-in-one is what ./svc up runs', { exitCode: 2 });
  const app = SERVICES.find((service) => service === name?.replace(/^@svc\//, ''));
  if (app === undefined)
    throw new SvcError(`there is no app "${name ?? ''}"`, { hint: `there are ${SERVICES.join(', ')}`, exitCode: 2 });
  const settings = makeDataDir(readSettings(root, process.env, process.cwd()));
  const port = settings.ports.alone[app];
  await requireFreePorts({ [app]: port });

  let startedServer = false;
  try {
    const steps = createSteps();
    await prepare(settings, steps, { build: true });
    const { startDatabase } = await import('./database.ts');
    const secrets = await startDatabase(settings, steps, () => (startedServer = true));
    console.log(`\n${app} listens on ${urlOf(port)}; alone, without a broker, it talks to no other service yet`);
    console.log('It starts again when its sources change; Ctrl-C stops it.\n');
    await runAndWatch(settings, app, { ...variablesOf(settings, secrets)[app], ...ownAddress(app, port) });
  } finally {
    if (startedServer && findPostgres(pathsOf(settings).postgres) !== undefined) {
      console.log(`PostgreSQL ${await stopPostgres(pathsOf(settings).postgres)}`);
    }
  }
}

/** A service that puts its own address into links must name the port it has here. */
function ownAddress(app: Service, port: number): Record<string, string> {
  if (app === 'hosted-gateway') return { SVC_GATEWAY_URL: urlOf(port), SVC_CODES_URL: urlOf(port) };
  return app === 'demo-shop' ? { SVC_SHOP_URL: urlOf(port), SVC_SHOP_NOTIFICATIONS_URL: urlOf(port) } : {};
}

async function runAndWatch(settings: Settings, app: Service, variables: Record<string, string>): Promise<void> {
  const folder = join(settings.root, 'apps', app);
  const script = join(folder, 'dist', 'main.js');
  if (!existsSync(script)) throw new SvcError(`${script} is missing`, { hint: 'the build should have made it' });
  const compiler = join(settings.root, 'node_modules', 'typescript', 'bin', 'tsc');
  const watching = spawn(process.execPath, [compiler, '--build', '--watch', '--preserveWatchOutput', folder], {
    stdio: 'inherit',
    cwd: settings.root,
  });

  let child: ChildProcess | undefined;
  const start = () => {
    const env = environmentFor(variables);
    const running = spawn(process.execPath, ['--enable-source-maps', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
      cwd: settings.root,
      env,
    });
    createInterface({ input: running.stdout }).on('line', (line) => console.log(formatLogLine(line)));
    child = running;
  };
  let pending: NodeJS.Timeout | undefined;
  let restarting = Promise.resolve();
  const restart = () => {
    restarting = restarting.then(async () => {
      console.log(`${app} has changed: starting again`);
      await end(child);
      start();
    });
  };
  // The compiler builds the libraries it uses as well, each into a folder of its own.
  const libraries = readdirSync(join(settings.root, 'libs')).map((name) => join(settings.root, 'libs', name));
  const watchers = [folder, ...libraries]
    .map((project) => join(project, 'dist'))
    .filter((dist) => existsSync(dist))
    .map((dist) =>
      watch(dist, { recursive: true }, (_event, file) => {
        if (file?.endsWith('.js') !== true) return;
        clearTimeout(pending);
        pending = setTimeout(restart, SETTLE_MILLISECONDS);
      }),
    );
  start();
  await new Promise<void>((resolve) =>
    (['SIGINT', 'SIGTERM', 'SIGHUP'] as const).forEach((name) => process.on(name, () => resolve())),
  );
  for (const watcher of watchers) watcher.close();
  clearTimeout(pending);
  await restarting;
  await Promise.all([end(watching), end(child)]);
}

async function end(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGTERM');
  const timer = new AbortController();
  const inTime = await Promise.race([
    ended.then(() => true),
    pause(DRAIN_MILLISECONDS, false, { signal: timer.signal }).catch(() => true),
  ]);
  timer.abort();
  if (!inTime) child.kill('SIGKILL');
  await ended;
}
