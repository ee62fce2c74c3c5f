import { statSync } from 'node:fs';
import { createAdministrationApi } from './administration-api.ts';
import { variablesOf } from './env-files.ts';
import { OWNER_ONLY, readJson, writeAtomically } from './files.ts';
import { takeLock } from './lock.ts';
import { formatLogLine } from './log-lines.ts';
import { followLog } from './logs.ts';
import { findPostgres, stopPostgres } from './postgres-process.ts';
import { prepare } from './prepare.ts';
import { SUPERVISED } from './processes.ts';
import { findRabbitMq, stopRabbitMq } from './rabbitmq-process.ts';
import { stopPrograms } from './run-program.ts';
import { DEMO_MERCHANTS, seed } from './seed.ts';
import { createPartnerApi, seedPartner } from './seed-partner.ts';
import type { Demo, DemoMerchant } from './seed.ts';
import { loadSecrets } from './secrets.ts';
import { findServices, isHealthy, startServices, stopServices } from './services.ts';
import type { Mode, RunningServices } from './services.ts';
import { pathsOf, urlOf } from './settings.ts';
import type { Ports, Settings } from './settings.ts';
import { createSteps } from './steps.ts';
import { SvcError } from './svc-error.ts';
import { requireFreePorts } from './taken-ports.ts';
import { waitUntil } from './wait-until.ts';

/** Brings the platform up. Returns the exit code. */
export async function up(settings: Settings, { detach, mode }: { detach: boolean; mode: Mode }): Promise<number> {
  const paths = pathsOf(settings);
  const lock = takeLock(paths.lock);
  if (!('release' in lock)) {
    throw new SvcError(`another ./svc (process ${lock.heldBy}) is starting or stopping this copy`, {
      hint: 'wait for it, or start a second copy with SVC_DATA_DIR and SVC_PORT_BASE',
    });
  }
  try {
    const running = findServices(settings);
    if (running !== undefined && running.mode !== mode) throw otherMode(running.mode);
    if (running !== undefined && findPostgres(paths.postgres) !== undefined) {
      await startBrokerAgain(settings, running);
      const state = (await isHealthy(running.ports))
        ? 'already running'
        : 'already running, but not healthy: see ./svc status';
      console.log(`Svc Payments is ${state}\n${addresses(running.ports)}`);
      return 0;
    }
    await stopServices(settings); // left over, without their database
    await orUndo((undo) => start(settings, mode, undo));
  } finally {
    lock.release();
  }
  console.log(`\nSvc Payments is running\n${addresses(settings.ports)}\n\n${nextSteps(paths.demo)}`);
  return detach ? 0 : stayInForeground(settings);
}

const HOW: Readonly<Record<Mode, string>> = {
  embedded: 'with all services in one process',
  rabbitmq: 'with all services in one process, over RabbitMQ',
  distributed: 'distributed, with a process for each service',
};

/** One data folder is one platform: two of them would relay the same event logs. */
function otherMode(mode: Mode): SvcError {
  return new SvcError(`this copy already runs ${HOW[mode]}`, {
    hint: './svc down first (the data stays), or start a second copy with SVC_DATA_DIR and SVC_PORT_BASE',
  });
}

/** The services wait for a broker that is gone and connect again, so only it is started. */
async function startBrokerAgain(settings: Settings, running: RunningServices): Promise<void> {
  const paths = pathsOf(settings);
  if (!running.ownsBroker || findRabbitMq(paths.rabbitMq) !== undefined) return;
  const { startOwnOrGivenBroker } = await import('./database.ts');
  await startOwnOrGivenBroker(
    { ...settings, givenAmqpUrl: undefined },
    loadSecrets(paths.secrets),
    createSteps(),
    running.mode,
  );
  await waitUntil(async () => ((await isHealthy(running.ports)) ? true : undefined), { withinSeconds: 30 });
}

type Undo = Array<() => Promise<unknown>>;

async function start(settings: Settings, mode: Mode, undo: Undo): Promise<void> {
  const paths = pathsOf(settings);
  const { api, gateway, shop, admin, acquirer, postgres, rabbitMq, alone } = settings.ports;
  const isDistributed = mode === 'distributed';
  const hasBroker = mode !== 'embedded';
  const ownsBroker = hasBroker && settings.givenAmqpUrl === undefined;
  const hasOwnBroker = findRabbitMq(paths.rabbitMq)?.port === rabbitMq;
  const hasOwnServer = findPostgres(paths.postgres)?.port === postgres;
  await requireFreePorts({
    'the API': api,
    'the gateway': gateway,
    'the shop': shop,
    administration: admin,
    'the simulated acquirer': acquirer,
    ...(hasOwnServer ? {} : { PostgreSQL: postgres }),
    ...(isDistributed ? alone : {}),
    ...(ownsBroker && !hasOwnBroker ? { RabbitMQ: rabbitMq } : {}),
  });

  const steps = createSteps();
  await prepare(settings, steps, { build: true });
  // Needs a package (pg), which the step before has brought; so it is loaded only now.
  const { startDatabase, startOwnOrGivenBroker } = await import('./database.ts');
  const secrets = await startDatabase(settings, steps, () => undo.push(() => stopPostgres(paths.postgres)));
  if (hasBroker) {
    if (ownsBroker && !hasOwnBroker) undo.push(() => stopRabbitMq(paths.rabbitMq));
    await startOwnOrGivenBroker(settings, secrets, steps, mode);
  }
  await steps.run('services', async () => {
    undo.push(() => stopServices(settings));
    const { pid } = await startServices(settings, isDistributed ? {} : variablesOf(settings, secrets)['all-in-one'], {
      startedAt: new Date(),
      mode,
      ownsBroker,
    });
    return isDistributed ? `ready, ${SUPERVISED.length} processes below ${pid}` : `ready, process ${pid}`;
  });
  await steps.run('demo', () => writeDemo(settings, secrets.adminKey));
}

/** A start that fails, or is interrupted, leaves nothing running that did not run before. */
async function orUndo(work: (undo: Undo) => Promise<void>): Promise<void> {
  const undo: Undo = [];
  const interruption = waitForSignal();
  try {
    const signal = await Promise.race([work(undo), interruption.signal]);
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
  const { demo: file } = pathsOf(settings);
  const { api, gateway, shop, admin } = settings.ports;
  const known = readJson(file) as Partial<Demo> | undefined;
  const administration = createAdministrationApi(urlOf(admin), adminKey);
  const merchants: DemoMerchant[] = await seed(
    administration,
    DEMO_MERCHANTS,
    Array.isArray(known?.merchants) ? known.merchants : [],
  );
  const { partner, customers } = await seedPartner(administration, createPartnerApi(urlOf(api)), known ?? {});
  const demo: Demo = {
    apiUrl: urlOf(api),
    gatewayUrl: urlOf(gateway),
    shopUrl: urlOf(shop),
    adminUrl: urlOf(admin),
    adminKey,
    merchants,
    partner,
    customers,
  };
  writeAtomically(file, `${JSON.stringify(demo, null, 2)}\n`, OWNER_ONLY);
  return `${merchants.length} merchants, a partner with ${customers.length} customers, keys in demo.json`;
}

async function stayInForeground(settings: Settings): Promise<number> {
  const log = pathsOf(settings).servicesLog;
  const done = new AbortController();
  const interruption = waitForSignal();
  console.log('Logs follow; Ctrl-C stops everything.\n');
  const following = followLog(log, statSync(log).size, (line) => console.log(formatLogLine(line)), done.signal);
  const ended = waitUntil(() => (findServices(settings) === undefined || done.signal.aborted ? true : undefined), {
    withinSeconds: Number.POSITIVE_INFINITY,
    everyMilliseconds: 500,
  });
  const signal = await Promise.race([interruption.signal, ended.then(() => undefined)]);
  console.log(signal === undefined ? '\nThe services have ended' : '\nStopping');
  done.abort();
  await following;
  const services = await stopServices(settings);
  const { rabbitMq } = pathsOf(settings);
  if (findRabbitMq(rabbitMq) !== undefined) console.log(`  RabbitMQ   ${await stopRabbitMq(rabbitMq)}`);
  console.log(`  services   ${services}\n  PostgreSQL ${await stopPostgres(pathsOf(settings).postgres)}`);
  interruption.release();
  return signal === undefined && services === 'were not running' ? 1 : 0;
}

function waitForSignal(): { signal: Promise<NodeJS.Signals>; release: () => void } {
  const signals: NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  let listener: (signal: NodeJS.Signals) => void = () => undefined;
  const signal = new Promise<NodeJS.Signals>((resolve) => (listener = resolve));
  for (const name of signals) process.on(name, listener);
  return { signal, release: () => signals.forEach((name) => process.off(name, listener)) };
}

/** The addresses of one copy, a line for each. */
export function addresses(ports: Ports): string {
  return [
    `  shop            ${urlOf(ports.shop)}`,
    `  gateway         ${urlOf(ports.gateway)}`,
    `  API             ${urlOf(ports.api)}`,
    `  administration  ${urlOf(ports.admin)}`,
    `  PostgreSQL      127.0.0.1:${ports.postgres}`,
  ].join('\n');
}

function nextSteps(demoFile: string): string {
  return [
    'Next: open the shop, and pay with 4242 4242 4242 4242, any expiry date ahead and any CVV.',
    `Keys and secrets of the demo merchants and partner: ${demoFile}`,
    './svc logs -f shows the logs, ./svc status what runs, ./svc down stops it.',
  ].join('\n');
}
