/**
 * `node tools/svc/processes/supervisor.ts <data folder> <port base>`: what `./svc up --distributed` leaves running. It starts
 * the simulated acquirer, each service and the front in processes of their own, starts again what ends by itself, and
 * stops them in order: first the front, so that no request is refused, then the services, each of which finishes what
 * it has at hand, then the acquirer they may still be talking to. RabbitMQ and PostgreSQL are not its children: they
 * outlive it as they do in production.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { OWNER_ONLY, readJson, writeAtomically } from '../base/files.ts';
import { SUPERVISED, writeProcesses, type RestartOutcome, type RestartRequest, type Supervised } from './processes.ts';
import { SERVICES, pathsOf, readSettings } from '../base/settings.ts';
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

const apps = new Map<Supervised, SupervisedApp>();
for (const app of SUPERVISED) {
  apps.set(
    app,
    new SupervisedApp({
      app,
      root,
      program: programArguments(root, app),
      envFile: join(paths.env, `${app}.env`),
      port: portOf(app),
      log,
      onChange: write,
    }),
  );
}
/** One at a time: a restart that is asked for while another is under way waits for it. */
let work: Promise<void> = Promise.resolve();
let isStopping = false;

for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stopAll());
process.on('SIGUSR2', () => {
  work = work.then(restartAsAsked);
});
for (const app of apps.values()) app.start();
log('info', 'processes started', { apps: SUPERVISED });

function portOf(app: Supervised): number {
  if (app === 'front') return settings.ports.api;
  return app === 'simulated-acquirer' ? settings.ports.acquirer : settings.ports.alone[app];
}

function write(): void {
  const running = [...apps].map(([app, { running: known }]) => [app, known] as const);
  writeProcesses(paths.processes, Object.fromEntries(running.filter(([, known]) => known !== undefined)));
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

async function restartAsAsked(): Promise<void> {
  if (isStopping || !existsSync(paths.restart)) return;
  const { id, apps: wanted } = readJson(paths.restart) as RestartRequest;
  const outcome: RestartOutcome = { id, restarted: [], failed: undefined };
  for (const name of wanted) {
    const app = apps.get(name);
    if (app === undefined || isStopping) continue;
    log('info', 'restarting', { app: name });
    const isReady = await whileHeldByFront(name, () => app.restart());
    if (!isReady) {
      writeOutcome({ ...outcome, failed: name }); // the next would only make it worse
      return;
    }
    outcome.restarted.push(name);
  }
  writeOutcome(outcome);
}

/** The front queues requests for the app until it is ready again, so that none reaches a process that is closing. */
async function whileHeldByFront(name: Supervised, restart: () => Promise<boolean>): Promise<boolean> {
  const front = apps.get('front');
  if (name === 'front' || name === 'simulated-acquirer') return restart();
  await front?.sendMessage({ close: name }, (answer) => (answer as { closed?: unknown }).closed === name);
  try {
    return await restart();
  } finally {
    await front?.sendMessage({ open: name });
  }
}

function writeOutcome(outcome: RestartOutcome): void {
  writeAtomically(paths.restartOutcome, `${JSON.stringify(outcome)}\n`, OWNER_ONLY);
}
