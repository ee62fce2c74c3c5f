/**
 * `node tools/svc/serve/main.ts <app>` (the `serve` target of Nx): runs one app from its sources, and restarts it when
 * they change. While `./svc up --distributed` runs, the app takes the place of the supervised app. Otherwise it runs
 * alone, with the platform's database, but without a broker.
 */
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { isRunning, type ProcessRecord } from '../base/background-process.ts';
import { createSteps } from '../base/steps.ts';
import { reportError, SvcError } from '../base/svc-error.ts';
import { waitUntil } from '../base/wait-until.ts';
import { buildPage } from '../install/build.ts';
import { prepare } from '../install/prepare.ts';
import { findServices } from '../platform/services.ts';
import { findPostgres, stopPostgres } from '../postgres/postgres-process.ts';
import { appVariables, type Variables } from '../processes/env-files.ts';
import { formatLogLine, isLineOfService } from '../processes/log-lines.ts';
import { followLog } from '../processes/logs.ts';
import { requireFreePorts } from '../processes/ports.ts';
import { SUPERVISED_APPS, type SupervisedAppName } from '../processes/processes.ts';
import { loadSecrets } from '../settings/secrets.ts';
import { createDataDir, pathsOf, portOf, readSettings, SERVICES, type Settings, urlOf } from '../settings/settings.ts';
import { type Host, serveAlone, serveInPlatform } from './hosts.ts';
import type { ServedApp } from './served-app.ts';

const CALLER_POLL_MS = 500;

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
  if (running === undefined) return runAlone(settings, app);
  if (running.mode !== 'distributed')
    throw new SvcError('the platform runs with all services in one process, so no app of it can be replaced', {
      hint: `run ./svc down, then ./svc up -d --distributed and ./svc nx serve ${app} (the data stays)`,
    });
  return runInPlatform({ ...settings, ports: running.ports }, app);
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

async function runAlone(settings: Settings, app: SupervisedAppName): Promise<void> {
  const { ports } = settings;
  const port = portOf(ports, app);
  await requireFreePorts(
    app === 'front'
      ? { API: ports.api, gateway: ports.gateway, shop: ports.shop, admin: ports.admin }
      : { [app]: port },
  );
  const service = SERVICES.find((each) => each === app);
  const steps = createSteps();
  let hasStartedPostgres = false;
  try {
    // The migrations need the whole build.
    await prepare(settings, steps, { build: service !== undefined });
    let secrets = loadSecrets(pathsOf(settings).secrets);
    if (service !== undefined) {
      const { startDatabase } = await import('../platform/database.ts');
      secrets = await startDatabase(settings, steps, () => (hasStartedPostgres = true));
    }
    const variables = { ...appVariables(settings, secrets)[app], ...addressVariables(app, port) };
    const served = await createServedApp(settings, app);
    console.log(
      `\nThe platform does not run, so ${app} runs alone, at ${urlOf(port)}: without a broker, and without the other apps.`,
      `\nTo serve it within the platform, run ./svc up -d --distributed before.`,
    );
    await runUntilStopped(served, serveAlone(settings, app, variables, served));
  } finally {
    // A platform that was started in the meantime uses the database.
    if (hasStartedPostgres && findServices(settings) === undefined && findPostgres(pathsOf(settings).postgres)) {
      console.log(`PostgreSQL ${await stopPostgres(pathsOf(settings).postgres)}`);
    }
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

/** Links that these apps create must contain the port of this process. */
function addressVariables(app: SupervisedAppName, port: number): Variables {
  if (app === 'hosted-gateway') return { SVC_GATEWAY_URL: urlOf(port), SVC_CODES_URL: urlOf(port) };
  return app === 'demo-shop' ? { SVC_SHOP_URL: urlOf(port), SVC_SHOP_NOTIFICATIONS_URL: urlOf(port) } : {};
}

async function runUntilStopped(served: ServedApp, host: Host): Promise<void> {
  console.log('It restarts when its sources change; Ctrl-C stops it.\n');
  try {
    await Promise.race([served.start(() => host.reload()).then(() => host.ended), host.ended, waitForStop()]);
  } finally {
    await served.close();
    await host.stop();
  }
}

/** A signal, or the end of ./svc or of Nx, which started this process. */
async function waitForStop(): Promise<void> {
  const signals = (['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map((name) => once(process, name));
  await Promise.race([...signals, waitForEndOfCaller()]);
}

async function waitForEndOfCaller(): Promise<void> {
  const parent = process.ppid;
  const caller = process.env['SVC_CALLER'];
  const record = caller === undefined ? undefined : (JSON.parse(caller) as ProcessRecord);
  const hasEnded = () => process.ppid !== parent || (record !== undefined && !isRunning(record));
  await waitUntil(hasEnded, { withinSeconds: Number.POSITIVE_INFINITY, everyMilliseconds: CALLER_POLL_MS });
}
