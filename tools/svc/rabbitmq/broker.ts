/** Where a RabbitMQ comes from: the caller's, the machine's, a container, or one that is installed now. */
import { spawnSync } from 'node:child_process';
import { MESSAGING_SERVICES } from '../../../libs/contracts/src/service-messages.ts';
import { tryLogin } from './amqp-login.ts';
import { ensureInstalled } from '../install/apt.ts';
import { findRabbitMqBinaries, type RabbitMqBinaries } from './rabbitmq-binaries.ts';
import { hasContainerEngine } from './rabbitmq-container.ts';
import { findRabbitMq } from './rabbitmq-process.ts';
import { definitionsOf, urlsOfServices, vhostOf } from './rabbitmq-users.ts';
import { ADMINISTRATOR, startRabbitMq, type RabbitMqPlan, type StartedRabbitMq } from './rabbitmq.ts';
import type { Secrets } from '../base/secrets.ts';
import type { Service } from '../base/settings.ts';
import { SvcError } from '../base/svc-error.ts';

export interface BrokerPlan extends RabbitMqPlan {
  readonly root: string;
  readonly aptLog: string;
  /** amqp:// or amqps:// address of a RabbitMQ the caller runs; ours is then not needed. */
  readonly externalUrl: string | undefined;
  /** The management API of it, with an administrator's login. */
  readonly externalManagementUrl?: string | undefined;
  /** Of each service's user. Where left out, there are no such users. */
  readonly passwords?: Secrets['brokerPasswords'];
}

export interface StartedBroker extends StartedRabbitMq {
  /** Each service's own address; the same for all of them where no users could be made. */
  readonly urls: Readonly<Partial<Record<Service, string>>>;
}

const PACKAGED_BROKER = 'amqp://guest:guest@127.0.0.1:5672';

/** The caller's RabbitMQ, if it lets us in; else one of our own, started or found running. */
export async function startBroker(wish: BrokerPlan): Promise<StartedBroker> {
  const { externalUrl, externalManagementUrl, passwords } = wish;
  if (externalUrl !== undefined) {
    const given = await useExternalBroker(externalUrl);
    if (passwords === undefined || externalManagementUrl === undefined) return shared(given, passwords !== undefined);
    await importOver(externalManagementUrl, definitionsOf({ vhost: vhostOf(externalUrl), passwords }));
    return { ...given, urls: urlsOfServices(externalUrl, passwords) };
  }
  if (passwords === undefined) return shared(await startOwn(wish), false);
  const administrator = { name: ADMINISTRATOR, password: wish.password };
  const definitions = `${JSON.stringify(definitionsOf({ vhost: '/', passwords, administrator }))}\n`;
  const own = await startOwn({ ...wish, definitions });
  return { ...own, urls: urlsOfServices(own.url, passwords) };
}

async function startOwn(wish: BrokerPlan): Promise<StartedRabbitMq> {
  // A broker that runs in a container stays there, although a server may have been installed since.
  const running = findRabbitMq(wish.directory);
  if (running?.container !== undefined) return startRabbitMq(wish, 'container');
  const installed = findRabbitMqBinaries();
  if (installed !== undefined) return startRabbitMq(wish, installed);
  if (hasContainerEngine()) return startRabbitMq(wish, 'container');
  return startRabbitMq(wish, await install(wish));
}

function shared(started: StartedRabbitMq, isWarned: boolean): StartedBroker {
  const urls = Object.fromEntries(MESSAGING_SERVICES.map((service) => [service, started.url]));
  const warning = '; all services share its login, unless SVC_RABBITMQ_MANAGEMENT_URL lets ./svc make users';
  return { ...started, urls, description: started.description + (isWarned ? warning : '') };
}

/** @param managementUrl http:// or https:// address with an administrator's user and password */
async function importOver(managementUrl: string, definitions: object): Promise<void> {
  const { origin, pathname, username, password, host } = asUrl(managementUrl, 'SVC_RABBITMQ_MANAGEMENT_URL');
  const login = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64');
  const hint = "it must be the management API of the RabbitMQ in SVC_AMQP_URL, with an administrator's login";
  let status: number;
  try {
    const response = await fetch(`${origin}${pathname.replace(/\/$/, '')}/api/definitions`, {
      method: 'POST',
      headers: { authorization: `Basic ${login}`, 'content-type': 'application/json' },
      body: JSON.stringify(definitions),
      signal: AbortSignal.timeout(IMPORT_MILLISECONDS),
    });
    await response.body?.cancel();
    status = response.status;
  } catch (error) {
    throw new SvcError(`the management API on ${host} does not answer`, { hint, cause: error });
  }
  if (status >= 300)
    throw new SvcError(`the management API on ${host} answered ${status} to the users of the services`, { hint });
}

/** Installs the server's programs where this machine has neither them nor a container engine. Returns what was found, in words. */
export async function ensureRabbitMq(wish: Pick<BrokerPlan, 'root' | 'aptLog'>): Promise<string> {
  if (findRabbitMqBinaries() !== undefined) return 'installed on this machine';
  if (hasContainerEngine()) return 'in a container';
  await install(wish);
  return 'installed now';
}

const AMQP_HINT = 'for example amqp://user:password@127.0.0.1:5672; or leave it out to have a RabbitMQ started here';

const IMPORT_MILLISECONDS = 30_000;

async function useExternalBroker(url: string): Promise<StartedRabbitMq> {
  const { protocol, host } = asUrl(url);
  if (protocol !== 'amqp:' && protocol !== 'amqps:')
    throw new SvcError('SVC_AMQP_URL must be an amqp:// or amqps:// address', { hint: AMQP_HINT });
  const answer = await tryLogin(url);
  if (answer === 'accepted') return { url, description: `given: ${host}` };
  const what = answer === 'refused' ? 'refuses the user or the password of' : 'does not answer at the address in';
  throw new SvcError(`RabbitMQ on ${host} ${what} SVC_AMQP_URL`, {
    hint: 'start it, mend the address, or leave the variable out to have one started here',
  });
}

/** The address may hold a password, so it is never repeated. */
function asUrl(text: string, name = 'SVC_AMQP_URL'): URL {
  try {
    return new URL(text);
  } catch {
    throw new SvcError(`${name} is not an address`, name === 'SVC_AMQP_URL' ? { hint: AMQP_HINT } : {});
  }
}

async function install({ root, aptLog }: Pick<BrokerPlan, 'root' | 'aptLog'>): Promise<RabbitMqBinaries> {
  const wasAnswering = await tryLogin(PACKAGED_BROKER);
  const installed = await ensureInstalled({
    name: 'RabbitMQ',
    find: findRabbitMqBinaries,
    packages: [['rabbitmq-server']],
    root,
    logFile: aptLog,
    hint: 'install rabbitmq-server (or Docker), or name a RabbitMQ with SVC_AMQP_URL',
  });
  // The package starts a broker for the whole machine on port 5672, with a well-known password.
  if (wasAnswering === 'no answer')
    spawnSync('invoke-rc.d', ['rabbitmq-server', 'stop'], { stdio: 'ignore', timeout: 60_000 });
  return installed;
}
