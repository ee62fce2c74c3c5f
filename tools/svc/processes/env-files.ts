/** One file of variables for each app, written anew at each start: what the apps are configured with, to be read there. */
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { OWNER_ONLY, writeAtomically } from '../base/files.ts';
import type { Secrets } from '../base/secrets.ts';
import {
  FORWARDED_SETTINGS,
  SERVICES,
  pathsOf,
  publicUrlOf,
  urlOf,
  type Service,
  type Settings,
} from '../base/settings.ts';

export type Variables = Readonly<Record<string, string>>;
export type App = Service | 'simulated-acquirer' | 'all-in-one' | 'front';

/** How the services reach each other, where it is not within their process. */
export interface BrokerAccess {
  /** Each service's own; a service without one speaks to no other. */
  readonly amqpUrls: Readonly<Partial<Record<Service, string>>>;
  /** Each app is behind the front then, which says who calls. */
  readonly behindFront: boolean;
}

/**
 * Writes `<app>.env` for every app into a folder that only its owner can enter, and into another one the few for migrations: no
 * service reads the password of a schema's owner.
 */
export function writeEnvFiles(settings: Settings, secrets: Secrets, over?: BrokerAccess): void {
  const { env, ownerEnv } = pathsOf(settings);
  writeFolder(env, variablesOf(settings, secrets, over));
  writeFolder(ownerEnv, ownerVariablesOf(settings, secrets));
}

function writeFolder(folder: string, files: Readonly<Record<string, Variables>>): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
  for (const [app, variables] of Object.entries(files))
    writeAtomically(join(folder, `${app}.env`), formatEnvFile(variables), OWNER_ONLY);
}

/** What the migrations of each service are given. */
export function ownerVariablesOf({ ports }: Settings, { ownerPasswords }: Secrets): Record<Service, Variables> {
  const variables = SERVICES.map((service): [Service, Variables] => {
    const url = databaseUrlOf(ownerRoleOf(service), ownerPasswords[service], ports.postgres);
    return [service, { SVC_DATABASE_URL: url }];
  });
  return Object.fromEntries(variables) as Record<Service, Variables>;
}

/** Every app's variables. */
export function variablesOf(settings: Settings, secrets: Secrets, over?: BrokerAccess): Record<App, Variables> {
  const { ports, forwarded } = settings;
  const paths = pathsOf(settings);
  const base = {
    SVC_ENVIRONMENT: 'development',
    SVC_LOG_LEVEL: forwarded['SVC_LOG_LEVEL'] ?? 'info',
  };
  const errorPages = { SVC_ERROR_PAGES_URL: `${publicUrlOf(settings.lan, ports.api)}/errors` };
  const listeners = {
    SVC_API_PORT: String(ports.api),
    SVC_GATEWAY_PORT: String(ports.gateway),
    SVC_SHOP_PORT: String(ports.shop),
    SVC_ADMIN_PORT: String(ports.admin),
  };
  const own = ownVariablesOf(settings);
  const sealingKeys: Readonly<Partial<Record<Service, string>>> = secrets.sealingKeys;
  const services = SERVICES.map((name): [Service, Variables] => [
    name,
    {
      ...base,
      ...errorPages,
      SVC_DATABASE_URL: databaseUrlOf(roleOf(name), secrets.rolePasswords[name], ports.postgres),
      SVC_PORT: String(ports.alone[name]),
      ...given('SVC_AMQP_URL', over?.amqpUrls[name]),
      ...given('SVC_TRUSTED_PROXIES', over?.behindFront ? '127.0.0.1' : undefined),
      ...given('SVC_ADMIN_KEY', name === 'demo-shop' ? undefined : secrets.adminKey),
      ...given('SVC_SEALING_KEY', sealingKeys[name]),
      ...own[name],
      ...forwardedTo(name, forwarded),
    },
  ]);
  const upstreams = SERVICES.map((name) => [`SVC_UPSTREAM_${schemaOf(name).toUpperCase()}`, urlOf(ports.alone[name])]);
  const tls = tlsOf(settings);
  return {
    ...(Object.fromEntries(services) as Record<Service, Variables>),
    'simulated-acquirer': {
      ...base,
      SVC_PORT: String(ports.acquirer),
      SVC_ACQUIRER_STORE: paths.acquirerStore,
      SVC_ACQUIRER_PUBLIC_URL: publicUrlOf(settings.lan, ports.acquirer),
      ...tls,
      ...forwardedTo('simulated-acquirer', forwarded),
    },
    'all-in-one': { ...base, ...errorPages, SVC_ENV_DIR: paths.env, ...listeners, ...tls },
    front: { ...base, ...errorPages, ...listeners, ...tls, ...(Object.fromEntries(upstreams) as Variables) },
  };
}

function given(name: string, value: string | undefined): Variables {
  return value === undefined ? {} : { [name]: value };
}

/** What only one service needs. Payers and partners are sent to the network, programs stay on this machine. */
function ownVariablesOf(settings: Settings): Readonly<Partial<Record<Service, Variables>>> {
  const { ports, lan } = settings;
  const gateway = publicUrlOf(lan, ports.gateway);
  return {
    'payment-processor': {
      SVC_ACQUIRER_URL: urlOf(ports.acquirer),
      SVC_API_URL: publicUrlOf(lan, ports.api),
      SVC_CODES_URL: gateway,
    },
    'hosted-gateway': { SVC_GATEWAY_URL: gateway, SVC_CODES_URL: gateway },
    // The shop's own calls, and the platform's to it, stay on this machine: neither has to trust a certificate, and
    // notifications to a private network are refused, as they must be.
    'demo-shop': {
      SVC_GATEWAY_URL: urlOf(ports.gateway),
      SVC_PAYMENT_PAGES_URL: gateway,
      SVC_SHOP_URL: publicUrlOf(lan, ports.shop),
      SVC_SHOP_NOTIFICATIONS_URL: urlOf(ports.shop),
      SVC_SHOP_CREDENTIALS_FILE: pathsOf(settings).demo,
    },
    // Payers' phones open codes, so they begin with the address that the page has.
    'code-decoder': { SVC_SIMULATED_PROVIDER: 'on', SVC_CODES_URL: gateway },
  };
}

/** For the programs that listen on the network, where they do. */
function tlsOf(settings: Settings): Variables {
  if (settings.lan === undefined) return {};
  const { certificate, key } = pathsOf(settings).tls;
  return { SVC_TLS_LISTEN_ADDRESS: settings.lan, SVC_TLS_CERTIFICATE_FILE: certificate, SVC_TLS_KEY_FILE: key };
}

function forwardedTo(app: keyof typeof FORWARDED_SETTINGS | Service, forwarded: Variables): Variables {
  const prefixes = FORWARDED_SETTINGS[app] ?? [];
  return Object.fromEntries(
    Object.entries(forwarded).filter(([name]) => prefixes.some((prefix) => name.startsWith(prefix))),
  );
}

/** The PostgreSQL role that a service runs as; without the prefix, its schema. */
export function roleOf(service: Service): string {
  return `svc_${schemaOf(service)}`;
}

/** The PostgreSQL role that owns the schema. */
export function ownerRoleOf(service: Service): string {
  return `${roleOf(service)}_owner`;
}

export function schemaOf(service: Service): string {
  return service.replaceAll('-', '_');
}

function databaseUrlOf(role: string, password: string, port: number): string {
  return `postgres://${role}:${password}@127.0.0.1:${port}/svc`;
}

/** As `node --env-file` and util.parseEnv read it; a value with blanks or # (a folder's path) is quoted. */
export function formatEnvFile(variables: Variables): string {
  const lines = Object.entries(variables).map(([name, value]) => {
    if (/['\n\r]/.test(value)) throw new Error(`${name} cannot be written to an environment file`);
    return /^[\w./:@%+,=-]*$/.test(value) ? `${name}=${value}` : `${name}='${value}'`;
  });
  return `${lines.join('\n')}\n`;
}

/** What a program of ours is started with: the caller's environment without settings meant for ./svc itself. */
export function environmentFor(variables: Variables): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('SVC_'));
  return { ...Object.fromEntries(own), ...variables };
}
