/** The configuration of the apps. Each app has a file of environment variables, which is rewritten at every start. */
import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { OWNER_ONLY, writeAtomically } from '../base/files.ts';
import { adyenEmulatorVariables, adyenVariables } from '../demo/adyen-emulator.ts';
import type { Secrets } from '../settings/secrets.ts';
import {
  consoleUrlOf,
  databasePortOf,
  FORWARDED_SETTINGS,
  pathsOf,
  type Ports,
  publicUrlOf,
  selectVariables,
  type Service,
  SERVICES,
  type Settings,
  urlOf,
} from '../settings/settings.ts';
import { observationVariables } from './observed-apps.ts';

export type Variables = Readonly<Record<string, string>>;
export type App = Service | 'simulated-acquirer' | 'all-in-one' | 'front';

/** How the services communicate when RabbitMQ is used. */
export interface BrokerAccess {
  /** A service without an address does not connect to RabbitMQ. */
  readonly amqpUrls: Readonly<Partial<Record<Service, string>>>;
  /** Whether the reverse proxy (apps/front) forwards all requests, with the caller's address in a header. */
  readonly isBehindFront: boolean;
}

/**
 * Writes `<app>.env` for every app. The variables for migrations are in a separate folder, because no service may read
 * the password of a schema's owner. Only the user who runs ./svc can read these folders.
 */
export function writeEnvFiles(settings: Settings, secrets: Secrets, broker?: BrokerAccess): void {
  const { env, ownerEnv } = pathsOf(settings);
  writeFolder(env, appVariables(settings, secrets, broker));
  writeFolder(ownerEnv, ownerVariables(settings, secrets));
}

function writeFolder(folder: string, files: Readonly<Record<string, Variables>>): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
  for (const [app, variables] of Object.entries(files))
    writeAtomically(join(folder, `${app}.env`), formatEnvFile(variables), OWNER_ONLY);
}

/** The variables for the migrations of each service. */
export function ownerVariables(settings: Settings, { ownerPasswords }: Secrets): Record<Service, Variables> {
  const createVariables = (service: Service): Variables => ({
    SVC_DATABASE_URL: databaseUrlOf(ownerRoleOf(service), ownerPasswords[service], databasePortOf(settings, service)),
  });
  return Object.fromEntries(SERVICES.map((name) => [name, createVariables(name)])) as Record<Service, Variables>;
}

export function appVariables(settings: Settings, secrets: Secrets, broker?: BrokerAccess): Record<App, Variables> {
  const { ports, forwarded } = settings;
  const paths = pathsOf(settings);
  const observation = (app: Service | 'front' | 'all-in-one'): Variables =>
    settings.observe ? observationVariables(ports, app) : {};
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
    SVC_CONSOLE_PORT: String(ports.console),
    SVC_GATEWAY_URL: publicUrlOf(settings.lan, ports.gateway),
  };
  const demoClock = existsSync(paths.demoClock) ? { SVC_DEMO_CLOCK_FILE: paths.demoClock } : {};
  const specific = specificVariables(settings, secrets);
  const sealingKeys: Readonly<Partial<Record<Service, string>>> = secrets.sealingKeys;
  const services = SERVICES.map((name): [Service, Variables] => [
    name,
    {
      ...base,
      ...errorPages,
      ...demoClock,
      SVC_DATABASE_URL: databaseUrlOf(roleOf(name), secrets.rolePasswords[name], databasePortOf(settings, name)),
      SVC_PORT: String(ports.services[name]),
      ...optionalVariable('SVC_AMQP_URL', broker?.amqpUrls[name]),
      ...optionalVariable('SVC_TRUSTED_PROXIES', broker?.isBehindFront ? '127.0.0.1' : undefined),
      ...optionalVariable('SVC_ADMIN_KEY', name === 'demo-shop' ? undefined : secrets.adminKey),
      ...optionalVariable('SVC_SEALING_KEY', sealingKeys[name]),
      ...observation(name),
      ...specific[name],
      ...forwardedVariables(name, forwarded),
    },
  ]);
  const tls = tlsVariables(settings);
  return {
    ...(Object.fromEntries(services) as Record<Service, Variables>),
    'simulated-acquirer': {
      ...base,
      ...demoClock,
      SVC_PORT: String(ports.acquirer),
      SVC_ACQUIRER_STORE: paths.acquirerStore,
      SVC_ACQUIRER_PUBLIC_URL: publicUrlOf(settings.lan, ports.acquirer),
      ...adyenEmulatorVariables(settings, secrets),
      ...tls,
      ...forwardedVariables('simulated-acquirer', forwarded),
    },
    'all-in-one': {
      ...base,
      ...errorPages,
      SVC_ENV_DIR: paths.env,
      ...observation('all-in-one'),
      ...listeners,
      ...tls,
    },
    front: {
      ...base,
      ...observation('front'),
      ...errorPages,
      ...listeners,
      ...tls,
      ...upstreamVariables(ports),
    },
  };
}

/** The addresses of the services, for front. */
function upstreamVariables(ports: Ports): Variables {
  return Object.fromEntries(
    SERVICES.map((name) => [`SVC_UPSTREAM_${schemaOf(name).toUpperCase()}`, urlOf(ports.services[name])]),
  );
}

function optionalVariable(name: string, value: string | undefined): Variables {
  return value === undefined ? {} : { [name]: value };
}

/** Variables of single services. Links for payers contain the network address, programs use loopback. */
function specificVariables(settings: Settings, secrets: Secrets): Readonly<Partial<Record<Service, Variables>>> {
  const { ports, lan } = settings;
  const gateway = publicUrlOf(lan, ports.gateway);
  return {
    'payment-processor': {
      SVC_ACQUIRER_URL: urlOf(ports.acquirer),
      SVC_API_URL: publicUrlOf(lan, ports.api),
      SVC_CODES_URL: gateway,
      SVC_CARD_FINGERPRINT_KEYS: secrets.cardFingerprintKey,
      ...adyenVariables(settings, secrets),
    },
    'hosted-gateway': {
      SVC_GATEWAY_URL: gateway,
      SVC_CODES_URL: gateway,
      SVC_CHALLENGE_KEYS: secrets.challengeKey,
      ...mailVariables(settings),
    },
    // The shop and the platform call each other at loopback addresses, for two reasons. The shop need not trust the
    // self-signed certificate, and the platform refuses to send webhooks to a private network.
    'demo-shop': {
      SVC_GATEWAY_URL: urlOf(ports.gateway),
      SVC_PAYMENT_PAGES_URL: gateway,
      SVC_SHOP_URL: publicUrlOf(lan, ports.shop),
      SVC_SHOP_NOTIFICATIONS_URL: urlOf(ports.shop),
      SVC_SHOP_CREDENTIALS_FILE: pathsOf(settings).demo,
    },
    identity: { SVC_CONSOLE_URL: consoleUrlOf(lan, ports.console), ...mailVariables(settings) },
    // Payers' phones open codes, so codes contain the address of the payment page.
    console: { SVC_CONSOLE_URL: consoleUrlOf(lan, ports.console), SVC_CODES_URL: gateway, ...mailVariables(settings) },
    'code-decoder': { SVC_CODE_PROVIDERS: simulatedProvider(urlOf(ports.acquirer)), SVC_CODES_URL: gateway },
  };
}

/** The code provider that simulated-acquirer simulates. Its key is not secret, because the provider stores nothing. */
function simulatedProvider(acquirerUrl: string): string {
  const provider = {
    name: 'simulated',
    mode: 'test',
    baseUrl: `${acquirerUrl}/code-provider`,
    apiKey: 'simulated-code-provider',
    timeoutMs: 1_000,
    hosts: ['pay.simulated-provider.example/'],
    shortLinks: ['.simpay.example'],
    verifiesUnknown: true,
  };
  return JSON.stringify([provider]);
}

/** Without the caller's SMTP server, mails become files. The caller's variables replace these. */
function mailVariables(settings: Settings): Variables {
  const hasServer = ['SVC_SMTP_URL', 'SVC_SMTP_URL_FILE'].some((name) => name in settings.forwarded);
  const folder = pathsOf(settings).mail;
  return { SVC_MAIL_FROM: 'payments@svc.example', ...(hasServer ? {} : { SVC_MAIL_FOLDER: folder }) };
}

function tlsVariables(settings: Settings): Variables {
  if (settings.lan === undefined) return {};
  const { certificate, key } = pathsOf(settings).tls;
  return { SVC_TLS_LISTEN_ADDRESS: settings.lan, SVC_TLS_CERTIFICATE_FILE: certificate, SVC_TLS_KEY_FILE: key };
}

function forwardedVariables(app: keyof typeof FORWARDED_SETTINGS | Service, forwarded: Variables): Variables {
  return selectVariables(forwarded, FORWARDED_SETTINGS[app] ?? []);
}

/** The PostgreSQL role of a service. */
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

/** The format of `node --env-file` and util.parseEnv. A value with spaces or `#`, such as a path, is quoted. */
export function formatEnvFile(variables: Variables): string {
  const lines = Object.entries(variables).map(([name, value]) => {
    if (/['\n\r]/.test(value)) throw new Error(`${name} cannot be written to an environment file`);
    return /^[\w./:@%+,=-]*$/.test(value) ? `${name}=${value}` : `${name}='${value}'`;
  });
  return `${lines.join('\n')}\n`;
}

/** The environment of a started program: the environment of this process without SVC_…, plus these variables. */
export function environmentFor(variables: Variables): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('SVC_'));
  return { ...Object.fromEntries(inherited), ...variables };
}
