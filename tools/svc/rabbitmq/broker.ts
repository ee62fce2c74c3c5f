/** Chooses RabbitMQ: the server at SVC_AMQP_URL, an installed server, a container, or a server that ./svc installs. */
import { spawnSync } from 'node:child_process';
import { MESSAGING_SERVICES } from '../../../libs/contracts/src/service-messages.ts';
import { parseBrokerUrls } from '../../../libs/messaging/src/routing/rabbitmq-names.ts';
import { SvcError } from '../base/svc-error.ts';
import { ensureInstalled } from '../install/apt.ts';
import type { Secrets } from '../settings/secrets.ts';
import type { Service } from '../settings/settings.ts';
import { tryLogin } from './amqp-login.ts';
import { ADMINISTRATOR, type RabbitMqPlan, type StartedRabbitMq, startRabbitMq } from './rabbitmq.ts';
import { findRabbitMqBinaries, type RabbitMqBinaries } from './rabbitmq-binaries.ts';
import { hasContainerEngine } from './rabbitmq-container.ts';
import { findRabbitMq } from './rabbitmq-process.ts';
import { definitionsOf, urlsOfServices, vhostOf } from './rabbitmq-users.ts';

interface BrokerPlan extends RabbitMqPlan {
  readonly root: string;
  readonly aptLog: string;
  /** amqp:// or amqps:// URL of a RabbitMQ that ./svc does not start. */
  readonly externalUrl: string | undefined;
  /** The management API of that RabbitMQ, with an administrator's login. */
  readonly externalManagementUrl?: string | undefined;
  /** The passwords of the services' users; without them the services share one login. */
  readonly passwords?: Secrets['brokerPasswords'];
}

interface StartedBroker extends StartedRabbitMq {
  /** The URL for each service. All are equal when the services share one login. */
  readonly urls: Readonly<Partial<Record<Service, string>>>;
}

/** The broker that the Debian package starts. */
const DEBIAN_BROKER_URL = 'amqp://guest:guest@127.0.0.1:5672';

/** Uses the RabbitMQ at the external URL, or else starts one unless it already runs. */
export async function startBroker(plan: BrokerPlan): Promise<StartedBroker> {
  const { externalUrl, externalManagementUrl, passwords } = plan;
  if (externalUrl !== undefined) {
    const external = await useExternalBroker(externalUrl);
    if (passwords === undefined) return withSharedLogin(external);
    if (externalManagementUrl === undefined) {
      const warning = 'all services share its login, unless SVC_RABBITMQ_MANAGEMENT_URL lets ./svc create users';
      return withSharedLogin({ ...external, description: `${external.description}; ${warning}` });
    }
    await importDefinitions(externalManagementUrl, definitionsOf({ vhost: vhostOf(externalUrl), passwords }));
    return { ...external, urls: urlsOfServices(externalUrl, passwords) };
  }
  if (passwords === undefined) return withSharedLogin(await startOwnBroker(plan));
  const administrator = { name: ADMINISTRATOR, password: plan.password };
  const definitions = `${JSON.stringify(definitionsOf({ vhost: '/', passwords, administrator }))}\n`;
  const started = await startOwnBroker({ ...plan, definitions });
  return { ...started, urls: urlsOfServices(started.url, passwords) };
}

async function startOwnBroker(plan: BrokerPlan): Promise<StartedRabbitMq> {
  // A container that already runs contains data, so it is used even if a server has been installed since.
  if (findRabbitMq(plan.directory)?.container !== undefined) return startRabbitMq(plan, 'container');
  const installed = findRabbitMqBinaries();
  if (installed !== undefined) return startRabbitMq(plan, installed);
  return startRabbitMq(plan, hasContainerEngine() ? 'container' : await installRabbitMq(plan));
}

function withSharedLogin(started: StartedRabbitMq): StartedBroker {
  return { ...started, urls: Object.fromEntries(MESSAGING_SERVICES.map((service) => [service, started.url])) };
}

/** @param managementUrl http:// or https:// URL with an administrator's user and password */
async function importDefinitions(managementUrl: string, definitions: object): Promise<void> {
  const { origin, pathname, username, password, host } = parseUrl(managementUrl, 'SVC_RABBITMQ_MANAGEMENT_URL');
  const login = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64');
  const hint = "it must be the management API of the RabbitMQ in SVC_AMQP_URL, with an administrator's login";
  const { ok, status, body } = await fetch(`${origin}${pathname.replace(/\/$/, '')}/api/definitions`, {
    method: 'POST',
    headers: { authorization: `Basic ${login}`, 'content-type': 'application/json' },
    body: JSON.stringify(definitions),
    signal: AbortSignal.timeout(30_000),
  }).catch((cause: unknown) => {
    throw new SvcError(`the management API on ${host} does not answer`, { hint, cause });
  });
  await body?.cancel();
  if (ok) return;
  throw new SvcError(`the management API on ${host} answered ${status} to the import of the services' users`, { hint });
}

/** Installs RabbitMQ when the machine has neither RabbitMQ nor a container engine. Returns the result as a text. */
export async function ensureRabbitMq(plan: Pick<BrokerPlan, 'root' | 'aptLog'>): Promise<string> {
  if (findRabbitMqBinaries() !== undefined) return 'installed on this machine';
  if (hasContainerEngine()) return 'in a container';
  await installRabbitMq(plan);
  return 'installed now';
}

const AMQP_HINT = 'for example amqp://user:password@127.0.0.1:5672; without the variable ./svc starts a RabbitMQ';

/** @param url the URL of a server, or of each node of a cluster, separated by commas */
async function useExternalBroker(url: string): Promise<StartedRabbitMq> {
  const nodes = parseBrokerUrls(url).map((ofNode) => parseUrl(ofNode));
  if (!nodes.every(({ protocol }) => protocol === 'amqp:' || protocol === 'amqps:'))
    throw new SvcError('SVC_AMQP_URL must be an amqp:// or amqps:// URL', { hint: AMQP_HINT });
  const host = nodes.map((node) => node.host).join(', ');
  const logins = await Promise.all(nodes.map(({ href }) => tryLogin(href)));
  if (logins.includes('accepted')) return { url, description: `uses ${host}` };
  const login = logins.includes('refused') ? 'refused' : 'no answer';
  const problem = login === 'refused' ? 'refuses the user or the password of' : 'does not answer at the address in';
  throw new SvcError(`RabbitMQ on ${host} ${problem} SVC_AMQP_URL`, {
    hint: 'start it or correct the URL; without the variable ./svc starts a RabbitMQ',
  });
}

/** The URL may contain a password, so the error does not repeat it. */
function parseUrl(text: string, name = 'SVC_AMQP_URL'): URL {
  if (URL.canParse(text)) return new URL(text);
  throw new SvcError(`${name} is not a URL`, name === 'SVC_AMQP_URL' ? { hint: AMQP_HINT } : {});
}

async function installRabbitMq({ root, aptLog }: Pick<BrokerPlan, 'root' | 'aptLog'>): Promise<RabbitMqBinaries> {
  const loginBefore = await tryLogin(DEBIAN_BROKER_URL);
  const installed = await ensureInstalled({
    name: 'RabbitMQ',
    find: findRabbitMqBinaries,
    packages: [['rabbitmq-server']],
    root,
    logFile: aptLog,
    hint: 'install rabbitmq-server (or Docker), or set SVC_AMQP_URL to a RabbitMQ',
  });
  // The package starts a broker on port 5672, with a well-known password.
  if (loginBefore === 'no answer')
    spawnSync('invoke-rc.d', ['rabbitmq-server', 'stop'], { stdio: 'ignore', timeout: 60_000 });
  return installed;
}
