/** RabbitMQ from its official image, for machines with a container engine and without an installed RabbitMQ. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { SvcError } from '../base/svc-error.ts';

const IMAGE = 'rabbitmq:4';
const ENGINE_TIMEOUT_MS = 10_000;
const PULL_TIMEOUT_MS = 600_000;
const IMPORT_TIMEOUT_MS = 60_000;

interface ContainerPlan {
  readonly directory: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
}

/** Whether a client is installed and its engine responds. */
export function hasContainerEngine(): boolean {
  return docker(['info', '--format', '{{.ServerVersion}}'], ENGINE_TIMEOUT_MS).status === 0;
}

/** Starts a new container for this directory, with its data in a volume of the same name. Returns the name. */
export function startContainer(plan: ContainerPlan): string {
  const name = containerName(plan.directory);
  docker(['rm', '--force', name], ENGINE_TIMEOUT_MS); // The volume stays.
  const result = docker(containerArguments(name, plan), PULL_TIMEOUT_MS, {
    RABBITMQ_DEFAULT_USER: plan.user,
    RABBITMQ_DEFAULT_PASS: plan.password,
  });
  if (result.status === 0) return name;
  const reason = result.error?.message ?? (result.stderr.trim().split('\n').at(-1) || `exit code ${result.status}`);
  throw new SvcError(`RabbitMQ did not start as a container: ${reason}`, {
    hint: `see docker logs ${name}, or set SVC_AMQP_URL to a RabbitMQ`,
  });
}

/** Imports users and permissions into a running broker. */
export function importIntoContainer(name: string, definitions: string | undefined): void {
  if (definitions === undefined) return;
  const args = ['exec', '--interactive', name, 'rabbitmqctl', 'import_definitions'];
  const result = docker(args, IMPORT_TIMEOUT_MS, {}, definitions);
  if (result.status === 0) return;
  throw new SvcError(`RabbitMQ in container ${name} rejected the users of the services`, {
    hint: result.stderr.trim().split('\n').at(-1) || `see docker logs ${name}`,
  });
}

/** The host name is constant, because the data directory contains it. The password is not among the arguments. */
export function containerArguments(name: string, plan: Pick<ContainerPlan, 'port'>): string[] {
  const environment = ['RABBITMQ_DEFAULT_USER', 'RABBITMQ_DEFAULT_PASS'].flatMap((variable) => ['--env', variable]);
  const portAndVolume = ['--publish', `127.0.0.1:${plan.port}:5672`, '--volume', `${name}:/var/lib/rabbitmq`];
  return ['run', '--detach', '--name', name, '--hostname', 'svc', ...portAndVolume, ...environment, IMAGE];
}

export function isContainerRunning(name: string): boolean {
  const result = docker(['inspect', '--format', '{{.State.Running}}', name], ENGINE_TIMEOUT_MS);
  return result.status === 0 && result.stdout.trim() === 'true';
}

export function stopContainer(name: string, withinSeconds: number): void {
  docker(['stop', '--time', String(withinSeconds), name], (withinSeconds + 10) * 1000);
}

/** Each copy of the platform has its own container. */
function containerName(directory: string): string {
  return `svc-rabbitmq-${createHash('sha256').update(directory).digest('hex').slice(0, 12)}`;
}

function docker(
  args: readonly string[],
  timeout: number,
  variables: Readonly<Record<string, string>> = {},
  input = '',
) {
  return spawnSync('docker', args, { encoding: 'utf8', timeout, input, env: { ...process.env, ...variables } });
}
