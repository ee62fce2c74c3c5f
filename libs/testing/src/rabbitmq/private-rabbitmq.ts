import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { findFreePort } from '../free-port.js';
import { waitUntil } from '../wait-until.js';

const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 20_000;

interface Ports {
  readonly amqp: number;
  /** Port of epmd, the name server of Erlang. */
  readonly epmd: number;
  /** Port for the connections between Erlang nodes. */
  readonly nodes: number;
  readonly management: number;
}

/** A RabbitMQ server for one test file, which the test can kill and restart. Uses the installed `rabbitmq-server`. */
export class PrivateRabbitMq {
  private server: ChildProcess | undefined;
  private epmd: ChildProcess | undefined;

  private constructor(
    private readonly folder: string,
    private readonly ports: Ports,
  ) {}

  /** Starts a server. With `definitions`, which must contain the user `guest`, its management API is enabled too. */
  static async start(definitions?: object): Promise<PrivateRabbitMq> {
    const folder = await mkdtemp(join(tmpdir(), 'svc-rabbitmq-'));
    for (const name of ['data', 'log', 'generated']) await mkdir(join(folder, name));
    const ports = {
      amqp: await findFreePort(),
      epmd: await findFreePort(),
      nodes: await findFreePort(),
      management: await findFreePort(),
    };
    await writeFile(join(folder, 'enabled_plugins'), definitions ? '[rabbitmq_management].' : '[].');
    const settings = ['disk_free_limit.absolute = 50MB', 'log.file.level = warning'];
    if (definitions) {
      await writeFile(join(folder, 'definitions.json'), JSON.stringify(definitions));
      settings.push('load_definitions = definitions.json', 'management.tcp.ip = 127.0.0.1');
      settings.push(`management.tcp.port = ${ports.management}`);
    }
    await writeFile(join(folder, 'rabbitmq.conf'), `${settings.join('\n')}\n`);
    const cookie = join(folder, '.erlang.cookie');
    await writeFile(cookie, `SVC${process.pid}${Date.now()}`);
    await chmod(cookie, 0o400);
    const broker = new PrivateRabbitMq(folder, ports);
    await broker.restart();
    return broker;
  }

  get url(): string {
    return `amqp://guest:guest@127.0.0.1:${this.ports.amqp}`;
  }

  /** URL of the management API, with the login of an administrator. */
  get managementUrl(): string {
    return `http://guest:guest@127.0.0.1:${this.ports.management}`;
  }

  /** The folder with the data of the server. */
  get dataFolder(): string {
    return join(this.folder, 'data');
  }

  /** Starts the server again, with its earlier data. */
  async restart(): Promise<void> {
    const options = { cwd: this.folder, env: this.env(), stdio: 'ignore', detached: true } as const;
    // epmd continues to run when the broker is killed, as it does in production.
    this.epmd ??= spawn('epmd', ['-address', '127.0.0.1', '-port', String(this.ports.epmd)], options);
    // With this variable the script replaces its process with the broker, so that a signal reaches the broker.
    const env = { ...options.env, RUNNING_UNDER_SYSTEMD: 'true' };
    this.server = spawn(findProgram('rabbitmq-server'), [], { ...options, env });
    await waitUntil('RabbitMQ to respond to AMQP', START_TIMEOUT_MS, () => isRespondingToAmqp(this.ports.amqp));
  }

  /** Runs rabbitmqctl for this server. */
  async control(...args: string[]): Promise<void> {
    const node = `svc${this.ports.amqp}@localhost`;
    const options = { cwd: this.folder, env: this.env(), stdio: 'ignore' } as const;
    const [code] = (await once(spawn(findProgram('rabbitmqctl'), ['-n', node, ...args], options), 'exit')) as [number];
    if (code !== 0) throw new Error(`rabbitmqctl ${args.join(' ')} ended with ${code}.`);
  }

  /** Kills the server with SIGKILL. */
  async kill(): Promise<void> {
    await this.end('SIGKILL');
  }

  async stop(): Promise<void> {
    await this.end('SIGTERM');
    this.epmd?.kill();
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  private async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const { server } = this;
    this.server = undefined;
    if (!server || server.exitCode !== null || server.signalCode !== null) return;
    server.kill(signal);
    const hasExited = (): boolean => server.exitCode !== null || server.signalCode !== null;
    try {
      await waitUntil('RabbitMQ to stop', STOP_TIMEOUT_MS, () => Promise.resolve(hasExited()));
    } catch {
      server.kill('SIGKILL');
    }
  }

  private env(): NodeJS.ProcessEnv {
    const { folder, ports } = this;
    return {
      PATH: process.env['PATH'],
      HOME: folder,
      LC_ALL: 'C.UTF-8',
      ERL_EPMD_PORT: String(ports.epmd),
      ERL_EPMD_ADDRESS: '127.0.0.1',
      RABBITMQ_CONF_ENV_FILE: '/dev/null',
      RABBITMQ_NODENAME: `svc${ports.amqp}@localhost`,
      RABBITMQ_NODE_PORT: String(ports.amqp),
      RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
      RABBITMQ_DIST_PORT: String(ports.nodes),
      RABBITMQ_MNESIA_BASE: join(folder, 'data'),
      RABBITMQ_LOG_BASE: join(folder, 'log'),
      RABBITMQ_PID_FILE: join(folder, 'rabbit.pid'),
      RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, 'enabled_plugins'),
      RABBITMQ_CONFIG_FILE: join(folder, 'rabbitmq.conf'),
      RABBITMQ_ADVANCED_CONFIG_FILE: join(folder, 'advanced.config'),
      RABBITMQ_GENERATED_CONFIG_DIR: join(folder, 'generated'),
      RABBITMQ_FEATURE_FLAGS_FILE: join(folder, 'feature_flags'),
      // Erlang listens only on loopback, and its idle threads do not busy-wait.
      RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS:
        '-kernel inet_dist_use_interface {127,0,0,1} +sbwt none +sbwtdcpu none +sbwtdio none',
    };
  }
}

/**
 * Searches Debian's script folder first, because the commands on the PATH require a system user. The scripts in that
 * folder, which these commands call, require no system user.
 */
function findProgram(name: 'rabbitmq-server' | 'rabbitmqctl'): string {
  const folders = ['/usr/lib/rabbitmq/bin', ...(process.env['PATH'] ?? '').split(delimiter)];
  const program = folders.map((place) => join(place, name)).find((path) => existsSync(path));
  if (!program)
    throw new Error('There is no RabbitMQ to test on: install rabbitmq-server. ./svc test installs it where it can.');
  return program;
}

/** Whether the broker responds. An open port is not enough, because the port is open before the broker responds. */
async function isRespondingToAmqp(port: number): Promise<boolean> {
  const socket = createConnection({ host: '127.0.0.1', port });
  try {
    // The protocol header of AMQP 0-9-1.
    socket.write('AMQP\0\0\x09\x01');
    await once(socket, 'data', { signal: AbortSignal.timeout(2_000) });
    return true;
  } finally {
    socket.destroy();
  }
}
