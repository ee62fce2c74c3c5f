/**
 * `node tools/svc/serve/main.ts <app>` (the `serve` target of Nx): runs one app from its sources in place of the
 * supervised app of `./svc up --distributed`, and restarts it when they change.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { createSteps } from '../base/steps.ts';
import { reportError, SvcError } from '../base/svc-error.ts';
import { buildPage } from '../install/build.ts';
import { prepare } from '../install/prepare.ts';
import { findServices } from '../platform/services.ts';
import { formatLogLine, isLineOfService } from '../processes/log-lines.ts';
import { followLog } from '../processes/logs.ts';
import { SUPERVISED_APPS, type SupervisedAppName } from '../processes/processes.ts';
import { createDataDir, pathsOf, portOf, readSettings, type Settings, urlOf } from '../settings/settings.ts';
import { type Host, serveInPlatform } from './platform-host.ts';
import type { ServedApp } from './served-app.ts';
import { waitForStop } from './wait-for-stop.ts';

const root = join(import.meta.dirname, '..', '..', '..');

try {
  await serve(process.argv[2]);
} catch (error) {
  process.exitCode = reportError(error, process.env['SVC_DATA_DIR'] ?? join(root, '.data'));
}
process.exit();

async function serve(name: string | undefined): Promise<void> {
  const app = parseApp(name);
  const settings = createDataDir(readSettings(root, process.env, process.cwd()));
  const running = findServices(settings);
  if (running?.mode === 'distributed') return runInPlatform({ ...settings, ports: running.ports }, app);
  if (running === undefined)
    throw new SvcError('the platform does not run', { hint: 'run ./svc up -d --distributed before' });
  throw new SvcError('the platform runs with all services in one process, so no app of it can be replaced', {
    hint: `run ./svc down, then ./svc up -d --distributed and ./svc nx serve ${app} (the data stays)`,
  });
}

function parseApp(name: string | undefined): SupervisedAppName {
  const folder = name?.replace(/^@svc\//, '');
  if (folder === 'all-in-one') throw new SvcError('to run all-in-one use ./svc up', { exitCode: 2 });
  const app = SUPERVISED_APPS.find((each) => each === folder);
  if (app !== undefined) return app;
  const hint = `there are ${SUPERVISED_APPS.join(', ')}`;
  throw new SvcError(`there is no app "${name ?? ''}"`, { hint, exitCode: 2 });
}

/** The supervisor runs the program, so the app has the same variables, port and log as before. */
async function runInPlatform(settings: Settings, app: SupervisedAppName): Promise<void> {
  const steps = createSteps();
  await prepare(settings, steps, { build: false });
  const { migrateRunningPlatform } = await import('../platform/database.ts');
  await migrateRunningPlatform(settings, steps, () => prepare(settings, steps, { build: true }));
  await steps.run('pages', () => buildPage(root, join(pathsOf(settings).log, 'build.log')));
  const served = await createServedApp(settings, app);
  const host = await serveInPlatform(settings, app, served);
  const { servicesLog } = pathsOf(settings);
  const print = (line: string) => isLineOfService(line, app) && console.log(formatLogLine(line));
  const logAbort = new AbortController();
  const following = followLog(servicesLog, statSync(servicesLog).size, print, logAbort.signal);
  console.log(`\n${app} takes the place of the platform's own process, at ${urlOf(portOf(settings.ports, app))}`);
  try {
    await runUntilStopped(served, host);
  } finally {
    logAbort.abort();
    await following;
  }
}

/** Imported only here, because it needs packages. */
async function createServedApp(settings: Settings, app: SupervisedAppName): Promise<ServedApp> {
  const { ServedApp } = await import('./served-app.ts');
  return new ServedApp({
    root,
    app,
    folder: join(pathsOf(settings).served, app),
    print: (text) => console.log(`\n${text}\n`),
  });
}

async function runUntilStopped(served: ServedApp, host: Host): Promise<void> {
  console.log('It restarts when its sources change; Ctrl-C stops it.\n');
  try {
    await Promise.race([served.start(() => host.reload()).then(() => host.ended), host.ended, waitForStop()]);
  } finally {
    await served.close();
    host.stop();
  }
}
