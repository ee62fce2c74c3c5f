import { randomBytes } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { OWNER_ONLY, readJson, writeAtomically } from '../base/files.ts';
import { PATIENCE } from '../base/patience.ts';
import { stopPrograms } from '../base/run-program.ts';
import { createSteps, type Steps } from '../base/steps.ts';
import { SvcError } from '../base/svc-error.ts';
import { waitUntil } from '../base/wait-until.ts';
import { checkAdyenEmulator, isAdyenEmulatorOn, setDemoAccounts } from '../demo/adyen-emulator.ts';
import {
  connectForDemo,
  connectToMainApi,
  createOwnerLink,
  createSignInLink,
  type Demo,
  DEMO_OWNER,
  GUIDE_OWNER,
  seed,
} from '../demo/seed.ts';
import { MovedClock } from '../demo/week/moved-clock.ts';
import { startOfWeek } from '../demo/week/plan-week.ts';
import { prepare } from '../install/prepare.ts';
import { chooseLanAddress, lanAddresses } from '../lan/lan-address.ts';
import { startDashboards, stopDashboards } from '../observe/dashboards-process.ts';
import { findPostgres, stopPostgres } from '../postgres/postgres-process.ts';
import { areAllDatabasesRunning, databaseServers } from '../postgres/servers.ts';
import { appVariables } from '../processes/env-files.ts';
import { formatLogLine } from '../processes/log-lines.ts';
import { followLog } from '../processes/logs.ts';
import { observedPorts } from '../processes/observed-apps.ts';
import { requireFreePorts } from '../processes/ports.ts';
import { SUPERVISED_APPS } from '../processes/processes.ts';
import { findRabbitMq, stopRabbitMq } from '../rabbitmq/rabbitmq-process.ts';
import { loadSecrets } from '../settings/secrets.ts';
import { consoleUrlOf, type DemoAcquirer, pathsOf, publicUrlOf, type Settings, urlOf } from '../settings/settings.ts';
import { formatAddresses, nextSteps, phoneInstructions } from './announcement.ts';
import { acquirePlatformLock, stopPlatform } from './down.ts';
import { startPrometheus, stopPrometheus } from './prometheus.ts';
import { findServices, isHealthy, type Mode, type RunningServices, startServices, stopServices } from './services.ts';
import { findTransformer, startTransformer, stopTransformer, transformerUrl } from './transformer.ts';

interface UpOptions {
  readonly detach: boolean;
  readonly mode: Mode;
  readonly acquirer: DemoAcquirer;
  /** A network address on which the platform also listens. `true` means the first address of the machine. */
  readonly lan?: string | true;
  readonly observe?: boolean;
}

/** Returns the exit code. */
export async function up(
  configured: Settings,
  { detach, mode, acquirer, lan, observe = false }: UpOptions,
): Promise<number> {
  const address = lan === undefined ? {} : { lan: resolveLanAddress(configured, lan) };
  const settings: Settings = { ...configured, acquirer, observe, ...address };
  checkAdyenEmulator(settings);
  const paths = pathsOf(settings);
  const lock = acquirePlatformLock(settings);
  try {
    const running = findServices(settings);
    if (running !== undefined && !hasOptions(running, mode, settings)) throw otherModeError(running);
    if (running !== undefined && areAllDatabasesRunning(settings)) {
      await restartBroker(settings, running);
      const demo = readJson(paths.demo) as Partial<Demo> | undefined;
      if (findTransformer(settings) === undefined && demo?.transformerApiKey !== undefined)
        await startTransformer({ ...settings, ports: running.ports }, demo as Demo);
      const state = (await isHealthy(running.ports))
        ? 'already running'
        : 'already running, but not healthy: see ./svc status';
      console.log(`Svc Payments is ${state}\n${formatAddresses(running)}`);
      await printPhoneInstructions({ ...settings, ports: running.ports });
      return 0;
    }
    await stopTransformer(settings);
    await stopDashboards(settings);
    await stopPrometheus(settings);
    await stopServices(settings); // The services may still run although their database has stopped.
    await withRollback((undo) => startPlatform(settings, mode, undo));
  } finally {
    lock.release();
  }
  console.log(`\nSvc Payments is running\n${formatAddresses(settings)}\n\n${nextSteps(paths.demo, acquirer)}`);
  console.log(await describeConsole(readJson(paths.demo) as Demo));
  await printPhoneInstructions(settings);
  return detach ? 0 : stayInForeground(settings);
}

/** A link signs in without a password, so it exists in development only, and new ones are made at each start. */
async function describeConsole({ adminUrl, adminKey, consoleUrl, merchants, roastery }: Demo): Promise<string> {
  const admin = connectForDemo(adminUrl, adminKey);
  const [ofWeek, ofGuides] = [
    await createSignInLink(admin, DEMO_OWNER),
    await createOwnerLink(admin, merchants[0]!.merchantId, GUIDE_OWNER),
  ];
  return [
    'The console, once for each link and within 24 hours,',
    `  as the owner of ${roastery.name}, which has traded for a week:\n    ${consoleUrl}${ofWeek}`,
    `  as the owner of ${merchants[0]!.name}, whose keys ./svc demo env exports:\n    ${consoleUrl}${ofGuides}`,
  ].join('\n');
}

const MODE_DESCRIPTIONS: Readonly<Record<Mode, string>> = {
  embedded: 'with all services in one process',
  rabbitmq: 'with all services in one process, over RabbitMQ',
  distributed: 'distributed, with a process for each service',
};

const ACQUIRER_DESCRIPTIONS: Readonly<Record<DemoAcquirer, string>> = {
  simulated: 'with the simulated bank',
  'adyen-emulator': 'with the emulator of Adyen',
};

function hasOptions(running: RunningServices, mode: Mode, { acquirer, lan, observe = false }: Settings): boolean {
  const { observe: isObserved = false } = running;
  return running.mode === mode && running.acquirer === acquirer && running.lan === lan && isObserved === observe;
}

/** Prefers the address of the running platform, because a machine may have several addresses. */
function resolveLanAddress(settings: Settings, wanted: string | true): string {
  const running = findServices(settings)?.lan;
  if (wanted === true && running !== undefined && lanAddresses(networkInterfaces()).includes(running)) return running;
  return chooseLanAddress(networkInterfaces(), wanted);
}

async function printPhoneInstructions(settings: Settings): Promise<void> {
  if (settings.lan === undefined) return;
  console.log(await phoneInstructions(settings, settings.lan, process.stdout.isTTY));
}

/**
 * The error if the platform already runs with other options. Two platforms with the same data would publish every event
 * twice.
 */
function otherModeError({ mode, acquirer, lan, observe }: RunningServices): SvcError {
  const where = lan === undefined ? 'for this machine alone' : `on the network as well, at ${lan}`;
  return new SvcError(
    `this copy already runs ${MODE_DESCRIPTIONS[mode]}, ${ACQUIRER_DESCRIPTIONS[acquirer]}, ${observe ? 'with' : 'without'} Prometheus, ${where}`,
    {
      hint: './svc down first (the data stays), or start a second copy with SVC_DATA_DIR and SVC_PORT_BASE',
    },
  );
}

/** Starts only the broker, because the services reconnect without a restart. */
async function restartBroker(settings: Settings, running: RunningServices): Promise<void> {
  const paths = pathsOf(settings);
  if (!running.ownsBroker || findRabbitMq(paths.rabbitMq) !== undefined) return;
  const { startPlatformBroker } = await import('./database.ts');
  const withoutExternal = { ...settings, externalAmqpUrl: undefined };
  await startPlatformBroker(withoutExternal, loadSecrets(paths.secrets), createSteps(), running.mode);
  await waitUntil(() => isHealthy(running.ports), { withinSeconds: 30 });
}

/** Functions that stop the parts of the platform that this start has started. The last function runs first. */
type Undo = Array<() => Promise<unknown>>;

async function startPlatform(settings: Settings, mode: Mode, undo: Undo): Promise<void> {
  const paths = pathsOf(settings);
  const { ports, lan } = settings;
  const isDistributed = mode === 'distributed';
  const hasBroker = mode !== 'embedded';
  const ownsBroker = hasBroker && settings.externalAmqpUrl === undefined;
  const isBrokerRunning = findRabbitMq(paths.rabbitMq)?.port === ports.rabbitMq;
  const stoppedDatabases = databaseServers(settings).filter(
    ({ directory, port }) => findPostgres(directory)?.port !== port,
  );
  const publicPorts = {
    'the API': ports.api,
    'the gateway': ports.gateway,
    'the shop': ports.shop,
    'the console': ports.console,
    'the simulated acquirer': ports.acquirer,
    "the till's transformer": ports.transformer,
  };
  await requireFreePorts({
    ...publicPorts,
    administration: ports.admin,
    ...(isAdyenEmulatorOn(settings) ? { "Adyen's emulator": ports.adyenEmulator } : {}),
    ...(settings.observe
      ? { Prometheus: ports.prometheus, 'the dashboards': ports.dashboards, ...observedPorts(ports, isDistributed) }
      : {}),
    ...Object.fromEntries(stoppedDatabases.map(({ name, port }) => [name, port])),
    ...(isDistributed ? ports.services : {}),
    ...(ownsBroker && !isBrokerRunning ? { RabbitMQ: ports.rabbitMq } : {}),
  });
  if (lan !== undefined) await requireFreePorts(publicPorts, lan);

  const steps = createSteps();
  await prepare(settings, steps, { build: true });
  if (lan !== undefined) await prepareCertificate(settings, lan, steps);
  // This module needs packages, so it is loaded after their installation.
  const { startDatabases, startPlatformBroker } = await import('./database.ts');
  // Only a new database has no record that is newer than the beginning of the week.
  const clock = new MovedClock(paths.demoClock);
  clock.release();
  const tradesWeek = settings.tradesWeek && !existsSync(paths.postgres);
  if (tradesWeek) {
    undo.push(() => Promise.resolve(clock.release()));
    clock.moveTo(startOfWeek(new Date()));
  }
  const secrets = await startDatabases(settings, steps, (directory) => undo.push(() => stopPostgres(directory)));
  if (hasBroker) {
    if (ownsBroker && !isBrokerRunning) undo.push(() => stopRabbitMq(paths.rabbitMq));
    await startPlatformBroker(settings, secrets, steps, mode);
  }
  await steps.run('services', async () => {
    undo.push(() => stopServices(settings));
    const variables = isDistributed
      ? { SVC_PATIENCE: String(PATIENCE) }
      : appVariables(settings, secrets)['all-in-one'];
    const { pid } = await startServices(settings, variables, { mode, ownsBroker });
    return isDistributed ? `ready, ${SUPERVISED_APPS.length} processes below ${pid}` : `ready, process ${pid}`;
  });
  await steps.run('demo', () => writeDemo(settings, secrets.adminKey));
  if (tradesWeek) await steps.run('week', () => tradeDemoWeek(settings, clock));
  undo.push(() => stopTransformer(settings));
  await steps.run('till', () => startTransformer(settings, readJson(paths.demo) as Demo));
  if (!settings.observe) return;
  undo.push(() => stopPrometheus(settings));
  await steps.run('Prometheus', () => startPrometheus(settings, mode));
  undo.push(() => stopDashboards(settings));
  await steps.run('dashboards', () => startDashboards(settings));
}

async function prepareCertificate(settings: Settings, lan: string, steps: Steps): Promise<void> {
  const { ensureCertificate } = await import('../lan/certificate.ts');
  await steps.run('certificate', async () => {
    const { renewalReason, validUntil } = await ensureCertificate(pathsOf(settings).tls, lan, new Date());
    const until = `for ${lan}, until ${validUntil.toISOString().slice(0, 10)}`;
    return renewalReason === undefined ? `kept ${until}` : `created ${until}: ${renewalReason}`;
  });
}

/** After a failure or an interruption, stops everything that this start has started. */
async function withRollback(action: (undo: Undo) => Promise<void>): Promise<void> {
  const undo: Undo = [];
  const interruption = waitForSignal();
  try {
    const signal = await Promise.race([action(undo), interruption.signal]);
    if (signal !== undefined)
      throw new SvcError(`interrupted (${signal}); stopping what was started`, { exitCode: 130 });
  } catch (error) {
    stopPrograms();
    for (const step of undo.reverse()) await step().catch((failure: unknown) => console.error(String(failure)));
    throw error;
  } finally {
    interruption.release();
  }
}

async function writeDemo(settings: Settings, adminKey: string): Promise<string> {
  const { demo: file, tls } = pathsOf(settings);
  const { lan } = settings;
  const { api, gateway, shop, admin, console: consolePort } = settings.ports;
  const stored = readJson(file) as Partial<Demo> | undefined;
  const administration = connectForDemo(urlOf(admin), adminKey);
  const data = await seed(administration, connectToMainApi(urlOf(api)), stored);
  const merchantIds = data.merchants.map(({ merchantId }) => merchantId);
  await setDemoAccounts(administration, merchantIds, settings.acquirer);
  const demo: Demo = {
    apiUrl: publicUrlOf(lan, api),
    gatewayUrl: publicUrlOf(lan, gateway),
    shopUrl: publicUrlOf(lan, shop),
    consoleUrl: consoleUrlOf(lan, consolePort),
    adminUrl: urlOf(admin),
    transformerUrl: transformerUrl(lan, settings.ports),
    transformerApiKey: stored?.transformerApiKey ?? `svc_transformer_${randomBytes(32).toString('base64url')}`,
    ...(lan === undefined ? {} : { certificateFile: tls.certificate }),
    adminKey,
    ...data,
  };
  writeAtomically(file, `${JSON.stringify(demo, null, 2)}\n`, OWNER_ONLY);
  return `${data.merchants.length + 1} merchants, a partner with ${data.customers.length} customers, keys in demo.json`;
}

/** Until now the clock of the platform was a week behind. */
async function tradeDemoWeek(settings: Settings, clock: MovedClock): Promise<string> {
  // This module needs packages, so it is loaded after their installation.
  const { tradeWeek } = await import('../demo/week/trade-week.ts');
  const { api, gateway } = settings.ports;
  const { roastery } = readJson(pathsOf(settings).demo) as Demo;
  const payments = await tradeWeek({ apiUrl: urlOf(api), gatewayUrl: urlOf(gateway) }, roastery, clock);
  clock.release();
  return `${payments} payments of ${roastery.name}`;
}

async function stayInForeground(settings: Settings): Promise<number> {
  const log = pathsOf(settings).servicesLog;
  const logAbort = new AbortController();
  const interruption = waitForSignal();
  console.log('Logs follow; Ctrl-C stops everything.\n');
  const following = followLog(log, statSync(log).size, (line) => console.log(formatLogLine(line)), logAbort.signal);
  const ended = waitUntil(() => findServices(settings) === undefined || logAbort.signal.aborted, {
    withinSeconds: Number.POSITIVE_INFINITY,
    everyMilliseconds: 500,
  });
  const signal = await Promise.race([interruption.signal, ended.then(() => undefined)]);
  console.log(signal === undefined ? '\nThe services have ended' : '\nStopping');
  logAbort.abort();
  await following;
  const services = await stopPlatform(settings);
  interruption.release();
  return signal === undefined && services === 'was not running' ? 1 : 0;
}

function waitForSignal(): { signal: Promise<NodeJS.Signals>; release: () => void } {
  const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  const { promise, resolve } = Promise.withResolvers<NodeJS.Signals>();
  for (const name of names) process.on(name, resolve);
  return { signal: promise, release: () => names.forEach((name) => process.off(name, resolve)) };
}
