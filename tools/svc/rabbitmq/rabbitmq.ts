/**
 * A RabbitMQ of the project's own: the machine's binaries, but directories, name server, cookie, ports, user and
 * password below the data folder, on the loopback interface alone. It runs as root or not, beside any other, survives
 * this process and a kill -9, and may move to another port: its node has one name for ever, under which it keeps its
 * data, and a name server of its own in which no other node has that name.
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { tryLogin } from './amqp-login.ts';
import { startInBackground, stopProcess } from '../base/background-process.ts';
import { OWNER_ONLY, writeAtomically } from '../base/files.ts';
import { PATIENCE } from '../base/patience.ts';
import type { RabbitMqBinaries } from './rabbitmq-binaries.ts';
import { importIntoContainer, startContainer } from './rabbitmq-container.ts';
import { brokerFileOf, findRabbitMq, stopEpmd, stopRabbitMq, type BrokerFile } from './rabbitmq-process.ts';
import { SvcError } from '../base/svc-error.ts';
import { findFreePort } from '../processes/ports.ts';
import { waitUntil } from '../base/wait-until.ts';

export interface RabbitMqPlan {
  readonly directory: string;
  readonly port: number;
  /** Of the user `svc`: letters, digits, - and _. */
  readonly password: string;
  readonly logFile: string;
  /** Imported at each start, as JSON (rabbitmq-users.ts); it then has to name the user `svc` too. */
  readonly definitions?: string;
}

export interface StartedRabbitMq {
  /** amqp:// address with user and password; of the administrator, where it is our own. */
  readonly url: string;
  readonly description: string;
}

export const ADMINISTRATOR = 'svc';
/** In the broker's directory, which it starts in. */
const DEFINITIONS = 'definitions.json';
const NODE_NAME = 'svc@localhost';
/** Four seconds on two idle cores; a busy machine, or queues to recover, take longer. */
const START_SECONDS = 120 * PATIENCE;
/** The first start of a container pulls its image, which `docker run` has waited for by then. */
const CONTAINER_START_SECONDS = 120 * PATIENCE;

/** Starts the broker, or finds the one that already runs on that directory. */
export async function startRabbitMq(
  plan: RabbitMqPlan,
  from: RabbitMqBinaries | 'container',
): Promise<StartedRabbitMq> {
  const url = urlOf(plan);
  const running = findRabbitMq(plan.directory);
  // One that runs with the users of another release starts anew; a container imports the new ones as it runs.
  if (running?.port === plan.port && (running.container !== undefined || hasDefinitions(plan))) {
    const hasEnded = () => findRabbitMq(plan.directory) === undefined;
    if (await becomesReady(url, plan, hasEnded, START_SECONDS)) {
      if (running.container !== undefined) importIntoContainer(running.container, plan.definitions);
      return { url, description: `runs on 127.0.0.1:${plan.port}` };
    }
  }
  await stopRabbitMq(plan.directory); // on another port, alive but not answering, or a name server left over
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
  if (await becomesReady(url, plan, hasEnded, CONTAINER_START_SECONDS)) {
    importIntoContainer(container, plan.definitions);
    return { url, description: `runs on 127.0.0.1:${plan.port}, in container ${container}` };
  }
  await stopRabbitMq(plan.directory);
  throw new SvcError(`RabbitMQ in container ${container} was not ready`, { hint: `see docker logs ${container}` });
}

/** Returns why it did not start, or undefined. */
async function launch(plan: RabbitMqPlan, binaries: RabbitMqBinaries, url: string): Promise<string | undefined> {
  const ports = { epmd: await findFreePort(), distribution: await findFreePort() };
  writeConfiguration(plan);
  const env = environmentOf(plan, binaries, ports);
  const options = { cwd: plan.directory, env, logFile: plan.logFile };
  const epmdArguments = ['-address', '127.0.0.1', '-port', String(ports.epmd)];
  const epmd = startInBackground(binaries.epmd, epmdArguments, options);
  const server = startInBackground(binaries.server, [], options);
  const epmdFile = epmd.process && { port: ports.epmd, process: epmd.process };
  if (server.process === undefined || epmdFile === undefined) {
    await stopProcess(server.process, 0);
    await stopEpmd(epmdFile);
    return server.end() ?? epmd.end() ?? 'it ended at once';
  }
  writeBrokerFile(plan.directory, { port: plan.port, process: server.process, epmd: epmdFile });
  if (await becomesReady(url, plan, () => server.end() !== undefined, START_SECONDS)) return undefined;
  return findReason(server.output()) ?? server.end() ?? `it was not ready within ${START_SECONDS} s`;
}

function writeBrokerFile(directory: string, file: BrokerFile): void {
  writeAtomically(brokerFileOf(directory), `${JSON.stringify(file)}\n`, OWNER_ONLY);
}

/** Written anew at each start, except for the cookie. Bounds fit a laptop: what does not fit is refused, not lost. */
function writeConfiguration(plan: RabbitMqPlan): void {
  const settings = {
    'listeners.tcp.local': `127.0.0.1:${plan.port}`,
    default_user: ADMINISTRATOR, // made, with every permission, when the data directory is new; then there is no guest
    default_pass: plan.password,
    ...(plan.definitions === undefined ? {} : { load_definitions: DEFINITIONS }),
    'disk_free_limit.absolute': '200MB',
    'vm_memory_high_watermark.absolute': '512MB',
    'log.console': 'true',
    'log.console.level': 'warning',
    'log.file': 'false',
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}\n`);
  writeAtomically(join(plan.directory, 'rabbitmq.conf'), lines.join(''), OWNER_ONLY);
  if (plan.definitions !== undefined) writeAtomically(join(plan.directory, DEFINITIONS), plan.definitions, OWNER_ONLY);
  writeAtomically(join(plan.directory, 'enabled_plugins'), '[].\n', OWNER_ONLY);
  const cookie = join(plan.directory, '.erlang.cookie');
  if (!existsSync(cookie)) writeAtomically(cookie, randomBytes(20).toString('hex').toUpperCase(), OWNER_ONLY);
  chmodSync(cookie, 0o400); // Erlang refuses one that others could read
}

function hasDefinitions({ directory, definitions }: RabbitMqPlan): boolean {
  if (definitions === undefined) return true;
  const file = join(directory, DEFINITIONS);
  return existsSync(file) && readFileSync(file, 'utf8') === definitions;
}

function environmentOf(plan: RabbitMqPlan, binaries: RabbitMqBinaries, ports: { epmd: number; distribution: number }) {
  const { directory } = plan;
  const path = [process.env['PATH'] ?? '', dirname(binaries.epmd), '/usr/bin', '/bin'].join(':');
  // Settings of the caller for a RabbitMQ or an Erlang of theirs must not reach ours.
  const kept = Object.entries(process.env).filter(([name]) => !/^(RABBITMQ_|ERL_|SVC_|AMQP_)/.test(name));
  return {
    ...Object.fromEntries(kept),
    PATH: path,
    HOME: directory,
    LC_ALL: process.platform === 'darwin' ? 'en_US.UTF-8' : 'C.UTF-8',
    ERL_EPMD_PORT: String(ports.epmd),
    ERL_EPMD_ADDRESS: '127.0.0.1',
    ERL_CRASH_DUMP_SECONDS: '0', // otherwise a crash writes a file as large as its memory, secrets and all
    RUNNING_UNDER_SYSTEMD: 'true', // the script then becomes the broker, instead of waiting for it: one process id
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
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS:
      '-kernel inet_dist_use_interface {127,0,0,1} +sbwt none +sbwtdcpu none +sbwtdio none',
  };
}

async function becomesReady(
  url: string,
  plan: RabbitMqPlan,
  hasEnded: () => boolean,
  withinSeconds: number,
): Promise<boolean> {
  const answer = await waitUntil(
    async () => {
      if (hasEnded()) return 'ended'; // first: another broker could answer on the port
      const login = await tryLogin(url);
      return login === 'no answer' ? undefined : login;
    },
    { withinSeconds, everyMilliseconds: 100 },
  );
  if (answer === 'refused' && !hasEnded()) {
    throw new SvcError(`RabbitMQ in ${plan.directory} does not accept the password in secrets.json`, {
      hint: 'the two were not made together: restore secrets.json, or move that directory away to start an empty one',
    });
  }
  return answer === 'accepted' && !hasEnded();
}

function urlOf(plan: RabbitMqPlan): string {
  return `amqp://${ADMINISTRATOR}:${encodeURIComponent(plan.password)}@127.0.0.1:${plan.port}`;
}

/** Forgets everything that was ever queued: for tests, which begin with an empty broker. */
export async function removeRabbitMq(directory: string): Promise<void> {
  await stopRabbitMq(directory);
  rmSync(directory, { recursive: true, force: true });
}

/** The line of a broker's output that says why it gave up. */
export function findReason(output: string): string | undefined {
  if (/eaddrinuse/i.test(output)) return 'a port that it needs is taken (eaddrinuse)';
  const lines = stripVTControlCharacters(output)
    .split('\n')
    .map((line) => line.replace(/^(Starting broker\.\.\.)?\d{4}-\d\d-\d\d \S+ \[\w+\] <[\d.]+> ?/, '').trim())
    .filter((line) => line !== '');
  const telling = [/no space left|enospc/i, /permission denied|eacces/i, /^ERROR:|error:|failed/i];
  for (const pattern of telling) {
    const line = lines.find((candidate) => pattern.test(candidate));
    if (line !== undefined) return line.slice(0, 300);
  }
  return lines.at(-1)?.slice(0, 300);
}
