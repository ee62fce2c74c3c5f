/**
 * The RabbitMQ server that ./svc starts. It uses the installed binaries, but its own directories, name server, cookie,
 * ports, user and password, and listens only on the loopback interface. It runs as any user and beside other brokers.
 * It outlives this process, and can be started again after a kill -9 or on another port. The data directory contains
 * the node name, so that name never changes. Its own name server keeps it apart from other nodes of the same name.
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { startInBackground, stopProcess } from '../base/background-process.ts';
import { OWNER_ONLY, writeAtomically } from '../base/files.ts';
import { PATIENCE } from '../base/patience.ts';
import { SvcError } from '../base/svc-error.ts';
import { waitUntil } from '../base/wait-until.ts';
import { findFreePort, isListening } from '../processes/ports.ts';
import { tryLogin } from './amqp-login.ts';
import type { RabbitMqBinaries } from './rabbitmq-binaries.ts';
import { importIntoContainer, startContainer } from './rabbitmq-container.ts';
import { type BrokerFile, brokerFilePath, findRabbitMq, stopEpmd, stopRabbitMq } from './rabbitmq-process.ts';

export interface RabbitMqPlan {
  readonly directory: string;
  readonly port: number;
  /** The password of the user `svc`: letters, digits, - and _. */
  readonly password: string;
  readonly logFile: string;
  /** JSON that the broker imports at each start (rabbitmq-users.ts). It must contain the user `svc`. */
  readonly definitions?: string;
  /** The port of the management API, for tests. Without it the API is disabled. Ignored by a container. */
  readonly managementPort?: number;
}

export interface StartedRabbitMq {
  /** amqp:// URL with user and password. For a broker that ./svc started, the user is the administrator. */
  readonly url: string;
  readonly description: string;
}

export const ADMINISTRATOR = 'svc';
/** A file in the broker's working directory. */
const DEFINITIONS = 'definitions.json';
const NODE_NAME = 'svc@localhost';
/** A start takes four seconds on two idle cores, longer on a busy machine or with queues to recover. */
const START_SECONDS = 120 * PATIENCE;

/** Starts the broker of the directory, unless it already runs. */
export async function startRabbitMq(
  plan: RabbitMqPlan,
  from: RabbitMqBinaries | 'container',
): Promise<StartedRabbitMq> {
  const url = administratorUrl(plan);
  const running = findRabbitMq(plan.directory);
  // A process restarts to load other definitions. A container imports other definitions while it runs.
  if (running?.port === plan.port && (running.container !== undefined || hasDefinitions(plan))) {
    const hasEnded = () => findRabbitMq(plan.directory) === undefined;
    if (await waitUntilReady(url, plan, hasEnded)) {
      if (running.container !== undefined) importIntoContainer(running.container, plan.definitions);
      return { url, description: `runs on 127.0.0.1:${plan.port}` };
    }
  }
  // If a broker still runs here, it listens on another port or does not respond. Its name server may run alone, too.
  await stopRabbitMq(plan.directory);
  mkdirSync(plan.directory, { recursive: true, mode: 0o700 });
  if (from === 'container') return startInContainer(plan, url);
  const failure = await launch(plan, from, url);
  if (failure === undefined) return { url, description: `started on 127.0.0.1:${plan.port}` };
  await stopRabbitMq(plan.directory);
  throw new SvcError(`RabbitMQ did not start: ${failure}`, {
    hint: `its log is ${plan.logFile}, its data ${plan.directory}`,
  });
}

async function startInContainer(plan: RabbitMqPlan, url: string): Promise<StartedRabbitMq> {
  const container = startContainer({ ...plan, user: ADMINISTRATOR });
  writeBrokerFile(plan.directory, { port: plan.port, container });
  const hasEnded = () => findRabbitMq(plan.directory) === undefined;
  if (await waitUntilReady(url, plan, hasEnded)) {
    importIntoContainer(container, plan.definitions);
    return { url, description: `runs on 127.0.0.1:${plan.port}, in container ${container}` };
  }
  await stopRabbitMq(plan.directory);
  throw new SvcError(`RabbitMQ in container ${container} was not ready`, { hint: `see docker logs ${container}` });
}

/** Returns the reason of a failure; undefined when the broker runs. */
async function launch(plan: RabbitMqPlan, binaries: RabbitMqBinaries, url: string): Promise<string | undefined> {
  const ports = { epmd: await findFreePort(), distribution: await findFreePort() };
  writeConfiguration(plan);
  const env = createEnv(plan, binaries, ports);
  const options = { cwd: plan.directory, env, logFile: plan.logFile };
  const epmdArguments = ['-address', '127.0.0.1', '-port', String(ports.epmd)];
  const epmd = startInBackground(binaries.epmd, epmdArguments, options);
  // The broker does not start if its name server does not listen yet, as on a busy machine.
  await waitUntil(async () => epmd.exitReason() !== undefined || (await isListening('127.0.0.1', ports.epmd)), {
    withinSeconds: START_SECONDS,
    everyMilliseconds: 10,
  });
  const server = startInBackground(binaries.server, [], options);
  const epmdFile = epmd.process && { port: ports.epmd, process: epmd.process };
  if (server.process === undefined || epmdFile === undefined) {
    await stopProcess(server.process, 0);
    await stopEpmd(epmdFile);
    return server.exitReason() ?? epmd.exitReason() ?? 'it ended immediately';
  }
  writeBrokerFile(plan.directory, { port: plan.port, process: server.process, epmd: epmdFile });
  if (await waitUntilReady(url, plan, () => server.exitReason() !== undefined)) return undefined;
  return findReason(server.output()) ?? server.exitReason() ?? `not ready within ${START_SECONDS} s`;
}

function writeBrokerFile(directory: string, file: BrokerFile): void {
  writeAtomically(brokerFilePath(directory), `${JSON.stringify(file)}\n`, OWNER_ONLY);
}

/** Rewrites all files except the cookie at each start. RabbitMQ blocks publishers at the limits, which fit a laptop. */
function writeConfiguration(plan: RabbitMqPlan): void {
  const settings = {
    'listeners.tcp.local': `127.0.0.1:${plan.port}`,
    default_user: ADMINISTRATOR, // Created instead of `guest` when the data directory is new.
    default_pass: plan.password,
    ...(plan.definitions === undefined ? {} : { load_definitions: DEFINITIONS }),
    'disk_free_limit.absolute': '200MB',
    'vm_memory_high_watermark.absolute': '512MB',
    'log.console': 'true',
    'log.console.level': 'warning',
    'log.file': 'false',
    ...(plan.managementPort === undefined ? {} : createManagementSettings(plan.managementPort)),
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}\n`);
  writeAtomically(join(plan.directory, 'rabbitmq.conf'), lines.join(''), OWNER_ONLY);
  if (plan.definitions !== undefined) writeAtomically(join(plan.directory, DEFINITIONS), plan.definitions, OWNER_ONLY);
  const plugins = plan.managementPort === undefined ? '[].\n' : '[rabbitmq_management].\n';
  writeAtomically(join(plan.directory, 'enabled_plugins'), plugins, OWNER_ONLY);
  const cookie = join(plan.directory, '.erlang.cookie');
  if (!existsSync(cookie)) writeAtomically(cookie, randomBytes(20).toString('hex').toUpperCase(), OWNER_ONLY);
  chmodSync(cookie, 0o400); // Erlang refuses a file that others can read.
}

/** Without statistics of queues and connections, which need processor time. */
function createManagementSettings(port: number) {
  return {
    'management.tcp.ip': '127.0.0.1',
    'management.tcp.port': String(port),
    'management_agent.disable_metrics_collector': 'true',
  };
}

function hasDefinitions({ directory, definitions }: RabbitMqPlan): boolean {
  if (definitions === undefined) return true;
  const file = join(directory, DEFINITIONS);
  return existsSync(file) && readFileSync(file, 'utf8') === definitions;
}

function createEnv(plan: RabbitMqPlan, binaries: RabbitMqBinaries, ports: { epmd: number; distribution: number }) {
  const { directory } = plan;
  const path = [process.env['PATH'] ?? '', dirname(binaries.epmd), '/usr/bin', '/bin'].join(':');
  // The caller's variables may be for another RabbitMQ or Erlang.
  const inherited = Object.entries(process.env).filter(([name]) => !/^(RABBITMQ_|ERL_|SVC_|AMQP_)/.test(name));
  return {
    ...Object.fromEntries(inherited),
    PATH: path,
    HOME: directory,
    LC_ALL: process.platform === 'darwin' ? 'en_US.UTF-8' : 'C.UTF-8',
    ERL_EPMD_PORT: String(ports.epmd),
    ERL_EPMD_ADDRESS: '127.0.0.1',
    ERL_CRASH_DUMP_SECONDS: '0', // Otherwise a crash writes its memory, with secrets, to a file.
    RUNNING_UNDER_SYSTEMD: 'true', // The start script then becomes the broker process instead of waiting for it.
    RABBITMQ_CONF_ENV_FILE: '/dev/null',
    RABBITMQ_NODENAME: NODE_NAME,
    RABBITMQ_DIST_PORT: String(ports.distribution),
    RABBITMQ_MNESIA_BASE: join(directory, 'data'),
    RABBITMQ_LOG_BASE: join(directory, 'log'),
    RABBITMQ_PID_FILE: join(directory, 'rabbit.pid'),
    RABBITMQ_CONFIG_FILE: join(directory, 'rabbitmq.conf'),
    RABBITMQ_ADVANCED_CONFIG_FILE: join(directory, 'advanced.config'),
    RABBITMQ_ENABLED_PLUGINS_FILE: join(directory, 'enabled_plugins'),
    RABBITMQ_GENERATED_CONFIG_DIR: join(directory, 'generated'),
    RABBITMQ_FEATURE_FLAGS_FILE: join(directory, 'feature_flags'),
    // `+sbwt none`: idle schedulers sleep immediately, so waiting needs no processor time.
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS:
      '-kernel inet_dist_use_interface {127,0,0,1} +sbwt none +sbwtdcpu none +sbwtdio none',
  };
}

async function waitUntilReady(url: string, plan: RabbitMqPlan, hasEnded: () => boolean): Promise<boolean> {
  const result = await waitUntil(
    async () => {
      if (hasEnded()) return 'ended'; // Checked first, because another broker could respond on the port.
      const login = await tryLogin(url);
      return login === 'no answer' ? undefined : login;
    },
    { withinSeconds: START_SECONDS, everyMilliseconds: 100 },
  );
  if (result === 'refused' && !hasEnded()) {
    throw new SvcError(`RabbitMQ in ${plan.directory} does not accept the password in secrets.json`, {
      hint: 'they do not belong together: restore secrets.json, or remove that directory to start with an empty one',
    });
  }
  return result === 'accepted' && !hasEnded();
}

function administratorUrl(plan: RabbitMqPlan): string {
  return `amqp://${ADMINISTRATOR}:${encodeURIComponent(plan.password)}@127.0.0.1:${plan.port}`;
}

/** Stops the broker and deletes its data. Tests use this, because they start with an empty broker. */
export async function removeRabbitMq(directory: string): Promise<void> {
  await stopRabbitMq(directory);
  rmSync(directory, { recursive: true, force: true });
}

/** The line of the broker's output that contains the reason why it ended. */
export function findReason(output: string): string | undefined {
  if (/eaddrinuse/i.test(output)) return 'a port is in use (eaddrinuse)';
  const lines = stripVTControlCharacters(output)
    .split('\n')
    .map((line) => line.replace(/^(Starting broker\.\.\.)?\d{4}-\d\d-\d\d \S+ \[\w+\] <[\d.]+> ?/, '').trim())
    .filter((line) => line !== '');
  // The lines after the title `BOOT FAILED` contain the reason.
  const patterns = [/no space left|enospc/i, /permission denied|eacces/i, /^ERROR:|error:|^(?!BOOT FAILED$).*failed/i];
  for (const pattern of [...patterns, /during startup/i]) {
    const at = lines.findIndex((candidate) => pattern.test(candidate));
    if (at >= 0)
      return lines
        .slice(at, lines[at]!.endsWith(':') ? at + 3 : at + 1)
        .join(' ')
        .slice(0, 300);
  }
  return lines.at(-1)?.slice(0, 300);
}
