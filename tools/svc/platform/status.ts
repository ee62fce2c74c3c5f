import { existsSync, readFileSync } from 'node:fs';
import { get } from 'node:https';
import { networkInterfaces } from 'node:os';
import { addressesOf } from '../lan/lan-address.ts';
import { findPostgres } from '../postgres/postgres-process.ts';
import { readMemoryMegabytes } from '../base/process-identity.ts';
import { isRunning } from '../base/background-process.ts';
import { SUPERVISED, readProcesses } from '../processes/processes.ts';
import { findRabbitMq } from '../rabbitmq/rabbitmq-process.ts';
import { findServices, isHealthy } from './services.ts';
import { pathsOf, publicUrlOf, urlOf, type Ports, type Settings } from '../base/settings.ts';
import { findTransformer, transformerUrlOf } from './transformer.ts';

/** Shows what runs, where, and how it is. Returns whether everything is up and healthy. */
export async function status(settings: Settings): Promise<boolean> {
  const services = findServices(settings);
  const server = findPostgres(pathsOf(settings).postgres);
  const lan = services?.lan;
  const till = findTransformer(settings);
  // A laptop that was carried elsewhere has another address, and everything that was given out names the old one.
  const isAway = lan !== undefined && !addressesOf(networkInterfaces()).includes(lan);
  const isReady = services !== undefined && !isAway && (await isHealthy(services.ports));
  if (services === undefined) {
    console.log('services    down       ./svc up starts them');
  } else {
    console.log(
      `services    ${isReady ? 'ready' : 'not ready'}  ${describe(services.pid)}, since ${services.startedAt}`,
    );
    const { shop, gateway, api, admin } = services.ports;
    for (const [name, port] of Object.entries({ shop, gateway, API: api, administration: admin })) {
      console.log(`  ${name.padEnd(16)} ${urlOf(port).padEnd(24)} ${await describeAnswer(askPlainly(urlOf(port)))}`);
    }
    const tillUrl = transformerUrlOf(lan, services.ports);
    // In a store systemd starts it again; here nothing does, like the services.
    const tillState =
      till === undefined
        ? 'down: the same ./svc up starts it again, and nothing is lost'
        : `${await describeAnswer(askPlainly(tillUrl))}, ${describe(till.pid)}`;
    console.log(`  ${'till transformer'.padEnd(16)} ${tillUrl.padEnd(24)} ${tillState}`);
    if (lan !== undefined) await describeNetwork(settings, services.ports, lan);
    if (isAway) console.log(`  this machine no longer has the address ${lan}: ./svc down, then ./svc up --lan`);
    if (services.mode === 'distributed') describeProcesses(settings);
  }
  const broker = findRabbitMq(pathsOf(settings).rabbitMq);
  const needsBroker = services?.ownsBroker === true;
  if (broker !== undefined) {
    const what = broker.pid === undefined ? `container ${broker.container}` : describe(broker.pid);
    console.log(`RabbitMQ    running    ${what}\n  127.0.0.1:${broker.port}`);
  } else if (needsBroker) {
    console.log('RabbitMQ    down');
  }
  console.log(
    server === undefined
      ? 'PostgreSQL  down'
      : `PostgreSQL  running    ${describe(server.pid)}\n  127.0.0.1:${server.port}`,
  );
  console.log(`data        ${settings.dataDir}`);
  return isReady && till !== undefined && server !== undefined && (broker !== undefined || !needsBroker);
}

async function describeNetwork(
  settings: Settings,
  { shop, gateway, api, acquirer }: Ports,
  lan: string,
): Promise<void> {
  const { certificate } = pathsOf(settings).tls;
  const ca = existsSync(certificate) ? readFileSync(certificate) : undefined;
  console.log('  on the network');
  for (const [name, port] of Object.entries({ shop, gateway, API: api, "bank's page": acquirer })) {
    const url = publicUrlOf(lan, port);
    console.log(`  ${name.padEnd(16)} ${url.padEnd(24)} ${await describeAnswer(askWithTls(url, ca))}`);
  }
}

function describeProcesses(settings: Settings): void {
  const processes = readProcesses(pathsOf(settings).processes);
  for (const app of SUPERVISED) {
    const known = processes[app];
    const state = isRunning(known) ? `${describe(known.pid)}, port ${known.port}, ${known.restarts} restarts` : 'down';
    console.log(`  ${app.padEnd(20)} ${state}`);
  }
}

function describe(pid: number): string {
  const megabytes = readMemoryMegabytes(pid);
  return `process ${pid}${megabytes === undefined ? '' : `, ${megabytes} MB`}`;
}

async function describeAnswer(answer: Promise<void>): Promise<string> {
  const started = performance.now();
  try {
    await answer;
    return `answers (${Math.round(performance.now() - started)} ms)`;
  } catch {
    return 'does not answer';
  }
}

/** Any answer shows that the listener is up. This path renders no page. */
const LIVE = '/health/live';
const ANSWER_MILLISECONDS = 2000;

async function askPlainly(url: string): Promise<void> {
  const response = await fetch(url + LIVE, { redirect: 'manual', signal: AbortSignal.timeout(ANSWER_MILLISECONDS) });
  await response.body?.cancel();
}

/** With the certificate of our own, which fetch has no way to be given. */
function askWithTls(url: string, ca: Buffer | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(ANSWER_MILLISECONDS);
    get(url + LIVE, { ca, signal }, (response) => {
      response.destroy();
      resolve();
    }).once('error', reject);
  });
}
