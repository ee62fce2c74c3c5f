/**
 * `node tools/svc/processes/supervisor.ts <data folder> <port base>`: the background process of `./svc up
 * --distributed`. It starts the simulated acquirer, each service and the reverse proxy (`front`) in separate processes,
 * and restarts those that end unexpectedly. It stops the reverse proxy first, so that no request reaches a stopped
 * service. Then it stops the services, which first finish their requests. At last it stops the acquirer, which they may
 * still call.
 * RabbitMQ and PostgreSQL are not children of this process, so they outlive it, as in production.
 */
import { join } from 'node:path';
import { OWNER_ONLY, readJson, writeAtomically } from '../base/files.ts';
import { pathsOf, readSettings, SERVICES } from '../settings/settings.ts';
import {
  type RestartOutcome,
  type RestartRequest,
  SUPERVISED_APPS,
  type SupervisedAppName,
  writeProcesses,
} from './processes.ts';
import { programArguments } from './programs.ts';
import { SupervisedApp } from './supervised-app.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const [dataDir, portBase] = process.argv.slice(2);
const settings = readSettings(root, { SVC_DATA_DIR: dataDir, SVC_PORT_BASE: portBase }, '/');
const paths = pathsOf(settings);
const log = (level: 'info' | 'warn', message: string, fields: object): void =>
  console.log(
    JSON.stringify({ level, time: new Date().toISOString(), service: 'supervisor', ...fields, msg: message }),
  );

const apps = new Map<SupervisedAppName, SupervisedApp>();
for (const app of SUPERVISED_APPS) {
  const envFile = join(paths.env, `${app}.env`);
  const plan = { app, root, program: programArguments(root, app), envFile, port: findPort(app), log, onChange: record };
  apps.set(app, new SupervisedApp(plan));
}
/** Restarts run one at a time. */
let lastRestart: Promise<void> = Promise.resolve();
let isStopping = false;

for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stopAll());
process.on('SIGUSR2', () => {
  lastRestart = lastRestart.then(handleRestartRequest);
});
for (const app of apps.values()) app.start();
log('info', 'processes started', { apps: SUPERVISED_APPS });

function findPort(app: SupervisedAppName): number {
  if (app === 'front') return settings.ports.api;
  return app === 'simulated-acquirer' ? settings.ports.acquirer : settings.ports.alone[app];
}

function record(): void {
  const processes = [...apps].map(([app, { running }]) => [app, running] as const);
  writeProcesses(paths.processes, Object.fromEntries(processes.filter(([, running]) => running !== undefined)));
}

async function stopAll(): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  await apps.get('front')?.stop();
  await Promise.all(SERVICES.map(async (app) => apps.get(app)?.stop()));
  await apps.get('simulated-acquirer')?.stop();
  log('info', 'all processes have stopped', {});
  process.exit(0);
}

async function handleRestartRequest(): Promise<void> {
  const request = readJson(paths.restart) as RestartRequest | undefined;
  if (isStopping || request === undefined) return;
  const outcome: RestartOutcome = { id: request.id, restarted: [], failed: undefined };
  for (const name of request.apps) {
    const app = apps.get(name);
    if (app === undefined || isStopping) continue;
    log('info', 'restarting', { app: name });
    const isReady = await withRequestsQueued(name, () => app.restart());
    // Does not restart the remaining apps, so that they continue to run.
    if (!isReady) return writeOutcome({ ...outcome, failed: name });
    outcome.restarted.push(name);
  }
  writeOutcome(outcome);
}

/** The reverse proxy queues requests for the app during its restart, so no request reaches a stopping process. */
async function withRequestsQueued(name: SupervisedAppName, restart: () => Promise<boolean>): Promise<boolean> {
  const front = apps.get('front');
  if (name === 'front' || name === 'simulated-acquirer') return restart();
  await front?.sendMessage({ close: name }, (reply) => (reply as { closed?: unknown }).closed === name);
  try {
    return await restart();
  } finally {
    await front?.sendMessage({ open: name });
  }
}

function writeOutcome(outcome: RestartOutcome): void {
  writeAtomically(paths.restartOutcome, `${JSON.stringify(outcome)}\n`, OWNER_ONLY);
}
