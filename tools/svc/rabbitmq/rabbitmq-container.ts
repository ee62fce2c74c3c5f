/** RabbitMQ from its official image, where the machine has a container engine and no RabbitMQ of its own. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { SvcError } from '../base/svc-error.ts';

const IMAGE = 'rabbitmq:4';
const ENGINE_MILLISECONDS = 10_000;
const PULL_MILLISECONDS = 600_000;
const IMPORT_MILLISECONDS = 60_000;

export interface ContainerPlan {
  readonly directory: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
}

/** Whether a client is installed and an engine answers it. */
export function hasContainerEngine(): boolean {
  return docker(['info', '--format', '{{.ServerVersion}}'], ENGINE_MILLISECONDS).status === 0;
}

/** Starts the container of this directory, or makes it; its data is in a volume of the same name. Returns that name. */
export function startContainer(plan: ContainerPlan): string {
  const name = nameOf(plan.directory);
  docker(['rm', '--force', name], ENGINE_MILLISECONDS); // of an earlier start; the volume stays
  const result = docker(containerArguments(name, plan), PULL_MILLISECONDS, {
    RABBITMQ_DEFAULT_USER: plan.user,
    RABBITMQ_DEFAULT_PASS: plan.password,
  });
  if (result.status === 0) return name;
  const reason = result.error?.message ?? (result.stderr.trim().split('\n').at(-1) || `exit code ${result.status}`);
  throw new SvcError(`RabbitMQ did not start as a container: ${reason}`, {
    hint: `docker logs ${name} may say more; or name a RabbitMQ with SVC_AMQP_URL`,
  });
}

/** Into a broker that runs: users and permissions are as these say from then on. */
export function importIntoContainer(name: string, definitions: string | undefined): void {
  if (definitions === undefined) return;
  const args = ['exec', '--interactive', name, 'rabbitmqctl', 'import_definitions'];
  const result = docker(args, IMPORT_MILLISECONDS, {}, definitions);
  if (result.status === 0) return;
  throw new SvcError(`RabbitMQ in container ${name} did not take the users of the services`, {
    hint: result.stderr.trim().split('\n').at(-1) || 'its log may say more',
  });
}

/** One host name for ever: RabbitMQ keeps its data under it. The password travels in the environment, not in a word. */
export function containerArguments(name: string, plan: Pick<ContainerPlan, 'port'>): string[] {
  const environment = ['RABBITMQ_DEFAULT_USER', 'RABBITMQ_DEFAULT_PASS'].flatMap((variable) => ['--env', variable]);
  const where = ['--publish', `127.0.0.1:${plan.port}:5672`, '--volume', `${name}:/var/lib/rabbitmq`];
  return ['run', '--detach', '--name', name, '--hostname', 'svc', ...where, ...environment, IMAGE];
}

export function isContainerRunning(name: string): boolean {
  const result = docker(['inspect', '--format', '{{.State.Running}}', name], ENGINE_MILLISECONDS);
  return result.status === 0 && result.stdout.trim() === 'true';
}

export function stopContainer(name: string, withinSeconds: number): void {
  docker(['stop', '--time', String(withinSeconds), name], (withinSeconds + 10) * 1000);
}

/** Two copies of the platform on one machine have a container each. */
function nameOf(directory: string): string {
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
