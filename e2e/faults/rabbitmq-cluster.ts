/**
 * A RabbitMQ cluster of three nodes on this machine, with the settings that docs/operations.md recommends. Each node
 * has a network namespace of its own, so that a test can cut the network between nodes, as a real partition does. Needs
 * root on Linux, `ip` of iproute2, and an installed rabbitmq-server. SVC_RABBITMQ_ROOT is the root directory of another
 * installation, for example of a newer release.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitUntil } from '@svc/testing';

const BRIDGE = 'svc-rabbitmq';
const NETWORK = '10.213.7';
const NODES = [1, 2, 3] as const;
export type NodeNumber = (typeof NODES)[number];

/** A node that gives no sign of life for about this time is regarded as lost. */
const NET_TICK_SECONDS = 8;
const START_TIMEOUT_MS = 120_000;
const SCRIPTS = '/usr/lib/rabbitmq/bin';
const COOKIE = 'SVCCLUSTER';

const namespaceOf = (node: NodeNumber): string => `svc-rabbitmq-${node}`;
const addressOf = (node: NodeNumber): string => `${NETWORK}.1${node}`;
const nameOf = (node: NodeNumber): string => `svc@${addressOf(node)}`;

export class RabbitMqCluster {
  readonly nodes = NODES;
  private readonly folder: string;
  /** The installation is in this directory, or in that of this machine. */
  private readonly root = process.env['SVC_RABBITMQ_ROOT'];
  private readonly processes = new Map<NodeNumber, ChildProcess>();

  private constructor() {
    // The nodes can be in another root directory, which contains this folder too.
    const parent = this.root === undefined ? tmpdir() : join(this.root, 'tmp');
    this.folder = mkdtempSync(join(parent, 'svc-rabbitmq-cluster-'));
  }

  static async start(): Promise<RabbitMqCluster> {
    const cluster = new RabbitMqCluster();
    removeNetwork();
    addNetwork();
    try {
      for (const node of NODES) cluster.prepare(node);
      // A new node of RabbitMQ 4 waits for the other nodes before it creates or joins the cluster.
      await Promise.all(NODES.map((node) => cluster.startNode(node)));
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  /** A list of URLs for SVC_AMQP_URL. */
  get urls(): string {
    return NODES.map((node) => `amqp://guest:guest@${addressOf(node)}:5672`).join();
  }

  /** The management API of the first node. */
  get managementUrl(): string {
    return `http://guest:guest@${addressOf(1)}:15672`;
  }

  /** Starts a node that was killed, and waits until it responds. */
  async startNode(node: NodeNumber): Promise<void> {
    // epmd is Erlang's name server. It outlives the node.
    this.spawnIn(node, ['epmd', '-daemon']);
    this.processes.set(node, this.spawnIn(node, [`${SCRIPTS}/rabbitmq-server`]));
    await waitUntil(`RabbitMQ's node ${node}`, START_TIMEOUT_MS, () => respondsToAmqp(addressOf(node)));
  }

  async kill(node: NodeNumber): Promise<void> {
    const child = this.processes.get(node);
    child?.kill('SIGKILL');
    await waitUntil(`the end of node ${node}`, 30_000, () =>
      Promise.resolve(child === undefined || child.signalCode !== null || child.exitCode !== null),
    );
  }

  /** Drops all packets between this node and the other nodes. Clients still reach it. */
  isolate(node: NodeNumber): void {
    this.changeRoutes(node, 'add');
  }

  reconnect(node: NodeNumber): void {
    this.changeRoutes(node, 'del');
  }

  /** Waits until each node sees all nodes again. A second fault would otherwise leave no majority. */
  async waitUntilWhole(): Promise<void> {
    for (const node of NODES)
      await waitUntil(`all nodes to be seen by node ${node}`, START_TIMEOUT_MS, () =>
        Promise.resolve(this.control(node, 'eval', 'length(rabbit_mnesia:cluster_nodes(running)).').trim() === '3'),
      );
  }

  /** Runs rabbitmqctl on a node and returns its output. */
  control(node: NodeNumber, ...args: string[]): string {
    const command = this.commandFor(node, [`${SCRIPTS}/rabbitmqctl`, '--quiet', ...args]);
    return runProgram('ip', command, this.env(node));
  }

  /** Output of the nodes, to investigate a failure. */
  get logs(): string {
    return join(this.folder, '*', 'log');
  }

  async stop(): Promise<void> {
    for (const node of NODES) await this.kill(node);
    for (const node of NODES) spawnSync('ip', ['netns', 'exec', namespaceOf(node), 'epmd', '-kill']);
    removeNetwork();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  private changeRoutes(node: NodeNumber, change: 'add' | 'del'): void {
    for (const other of NODES.filter((one) => one !== node))
      for (const [from, to] of [
        [node, other],
        [other, node],
      ] as const)
        runProgram('ip', ['-netns', namespaceOf(from), 'route', change, 'blackhole', `${addressOf(to)}/32`]);
  }

  private prepare(node: NodeNumber): void {
    const home = join(this.folder, String(node));
    for (const name of ['data', 'log', 'generated']) mkdirSync(join(home, name), { recursive: true });
    const settings = [
      'loopback_users = none',
      'disk_free_limit.absolute = 50MB',
      'log.file.level = info',
      `net_ticktime = ${NET_TICK_SECONDS}`,
      'cluster_partition_handling = pause_minority',
      'cluster_formation.peer_discovery_backend = classic_config',
      ...NODES.map((one) => `cluster_formation.classic_config.nodes.${one} = ${nameOf(one)}`),
    ];
    writeFileSync(join(home, 'rabbitmq.conf'), `${settings.join('\n')}\n`);
    writeFileSync(
      join(home, 'enabled_plugins'),
      node === 1 ? '[rabbitmq_management].' : '[rabbitmq_management_agent].',
    );
    writeFileSync(join(home, '.erlang.cookie'), COOKIE);
    chmodSync(join(home, '.erlang.cookie'), 0o400);
  }

  private spawnIn(node: NodeNumber, command: readonly string[]): ChildProcess {
    return spawn('ip', this.commandFor(node, command), { env: this.env(node), stdio: 'ignore', detached: true });
  }

  private commandFor(node: NodeNumber, command: readonly string[]): string[] {
    const inRoot = this.root === undefined ? command : ['chroot', this.root, ...command];
    return ['netns', 'exec', namespaceOf(node), ...inRoot];
  }

  private env(node: NodeNumber): NodeJS.ProcessEnv {
    const home = join(this.folder, String(node)).slice((this.root ?? '').length);
    return {
      PATH: `${SCRIPTS}:/usr/sbin:/usr/bin:/sbin:/bin`,
      HOME: home,
      LC_ALL: 'C.UTF-8',
      // The script replaces its process with the broker, so that a signal reaches the broker.
      RUNNING_UNDER_SYSTEMD: 'true',
      RABBITMQ_CONF_ENV_FILE: '/dev/null',
      RABBITMQ_USE_LONGNAME: 'true',
      RABBITMQ_NODENAME: nameOf(node),
      RABBITMQ_MNESIA_BASE: join(home, 'data'),
      RABBITMQ_LOG_BASE: join(home, 'log'),
      RABBITMQ_PID_FILE: join(home, 'rabbit.pid'),
      RABBITMQ_ENABLED_PLUGINS_FILE: join(home, 'enabled_plugins'),
      RABBITMQ_CONFIG_FILE: join(home, 'rabbitmq.conf'),
      RABBITMQ_GENERATED_CONFIG_DIR: join(home, 'generated'),
      RABBITMQ_FEATURE_FLAGS_FILE: join(home, 'feature_flags'),
      RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '+S 1:1 +sbwt none +sbwtdcpu none +sbwtdio none',
    };
  }
}

function addNetwork(): void {
  const ip = (...args: string[]): string => runProgram('ip', args);
  ip('link', 'add', BRIDGE, 'type', 'bridge');
  ip('address', 'add', `${NETWORK}.1/24`, 'dev', BRIDGE);
  ip('link', 'set', BRIDGE, 'up');
  for (const node of NODES) {
    const namespace = namespaceOf(node);
    ip('netns', 'add', namespace);
    ip('link', 'add', `svc-rmq-${node}`, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace);
    ip('link', 'set', `svc-rmq-${node}`, 'master', BRIDGE, 'up');
    ip('-netns', namespace, 'address', 'add', `${addressOf(node)}/24`, 'dev', 'eth0');
    for (const device of ['eth0', 'lo']) ip('-netns', namespace, 'link', 'set', device, 'up');
  }
}

/** Also removes what a killed run has left. */
function removeNetwork(): void {
  for (const node of NODES) spawnSync('ip', ['netns', 'delete', namespaceOf(node)], { stdio: 'ignore' });
  for (const node of NODES) spawnSync('ip', ['link', 'delete', `svc-rmq-${node}`], { stdio: 'ignore' });
  spawnSync('ip', ['link', 'delete', BRIDGE], { stdio: 'ignore' });
}

function runProgram(program: string, args: readonly string[], env?: NodeJS.ProcessEnv): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    encoding: 'utf8',
    timeout: 60_000,
    ...(env ? { env } : {}),
  });
  if (status !== 0)
    throw new Error(`${program} ${args.join(' ')} failed (${status}): ${stderr}${error?.message ?? ''}`);
  return stdout;
}

/** Whether the broker responds. An open port is not enough, because the port is open before the broker responds. */
function respondsToAmqp(host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host, port: 5672, timeout: 2_000 }, () => socket.write('AMQP\0\0\x09\x01'));
    const finish = (responds: boolean) => () => {
      socket.destroy();
      resolve(responds);
    };
    socket.once('data', finish(true));
    for (const event of ['error', 'timeout', 'close']) socket.once(event, finish(false));
  });
}
