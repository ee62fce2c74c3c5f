/**
 * `node tools/svc/supervisor/main.ts <data folder> <port base>`: the background process of `./svc up --distributed`. It
 * starts the simulated acquirer, each service and the reverse proxy (`front`) in separate processes, and restarts those
 * that end unexpectedly.
 * RabbitMQ and PostgreSQL are not children of this process, so they outlive it, as in production.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import type { Variables } from '../processes/env-files.ts';
import { SUPERVISED_APPS, type SupervisedAppName, writeProcesses } from '../processes/processes.ts';
import { programArguments, servedProgramArguments } from '../processes/programs.ts';
import { pathsOf, portOf, readSettings } from '../settings/settings.ts';
import { listenForCommands } from './control.ts';
import { SupervisedApp } from './supervised-app.ts';
import { Supervisor } from './supervisor.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const [dataDir, portBase] = process.argv.slice(2);
// The data folder is an absolute path, so the working directory for relative paths has no effect.
const settings = readSettings(root, { SVC_DATA_DIR: dataDir, SVC_PORT_BASE: portBase }, '/');
const paths = pathsOf(settings);
const log = (level: 'info' | 'warn', message: string, fields: object): void =>
  console.log(
    JSON.stringify({ level, time: new Date().toISOString(), service: 'supervisor', ...fields, msg: message }),
  );

const apps = new Map<SupervisedAppName, SupervisedApp>();
for (const app of SUPERVISED_APPS) {
  const readVariables = () => parseEnv(readFileSync(join(paths.env, `${app}.env`), 'utf8')) as Variables;
  const port = portOf(settings.ports, app);
  const program = programArguments(root, app);
  apps.set(app, new SupervisedApp({ app, root, program, readVariables, port, log, onChange: record }));
}
const developersProgram = (app: SupervisedAppName) => servedProgramArguments(paths.served, app);
const supervisor = new Supervisor({ apps, developersProgram, log });
let stopping: Promise<void> | undefined;
for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.on(signal, () => {
    stopping ??= supervisor.stop().then(() => process.exit(0));
  });
await listenForCommands(paths.run, (connection) => void supervisor.handle(connection));
supervisor.start();

function record(): void {
  const processes = [...apps].map(([app, { state }]) => [app, state] as const);
  writeProcesses(paths.processes, Object.fromEntries(processes.filter(([, state]) => state !== undefined)));
}
