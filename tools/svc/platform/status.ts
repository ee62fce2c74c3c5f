import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { networkInterfaces } from 'node:os';
import { isRunning } from '../base/background-process.ts';
import { readMemoryMegabytes } from '../base/process-identity.ts';
import { adyenEmulatorPage } from '../demo/adyen-emulator.ts';
import { lanAddresses } from '../lan/lan-address.ts';
import { findPostgres } from '../postgres/postgres-process.ts';
import { areAllDatabasesRunning, databaseServers } from '../postgres/servers.ts';
import { readProcesses, SUPERVISED_APPS } from '../processes/processes.ts';
import { findRabbitMq } from '../rabbitmq/rabbitmq-process.ts';
import { pathsOf, type Ports, publicUrlOf, type Settings, urlOf } from '../settings/settings.ts';
import { findServices, isHealthy, type RunningServices } from './services.ts';
import { findTransformer, transformerUrl } from './transformer.ts';

/** Returns whether everything runs and is healthy. */
export async function status(settings: Settings): Promise<boolean> {
  const services = findServices(settings);
  const lan = services?.lan;
  const till = findTransformer(settings);
  // A laptop that joins another network gets another address, but all links contain the old one.
  const hasLanChanged = lan !== undefined && !lanAddresses(networkInterfaces()).includes(lan);
  const isReady = services !== undefined && !hasLanChanged && (await isHealthy(services.ports));
  if (services === undefined) {
    console.log('services    down       ./svc up starts them');
  } else {
    console.log(
      `services    ${isReady ? 'ready' : 'not ready'}  ${describeProcess(services.pid)}, since ${services.startedAt}`,
    );
    const { shop, console: consolePort, gateway, api, admin } = services.ports;
    for (const [name, port] of Object.entries({
      shop,
      console: consolePort,
      gateway,
      API: api,
      administration: admin,
    })) {
      printAddress(name, urlOf(port), await describeResponse(urlOf(port)));
    }
    const tillUrl = transformerUrl(lan, services.ports);
    const tillState =
      till === undefined
        ? 'down: the same ./svc up starts it again, without loss of data'
        : `${await describeResponse(tillUrl)}, ${describeProcess(till.pid)}`;
    printAddress('till transformer', tillUrl, tillState);
    await printAcquirer(services);
    if (lan !== undefined) await printNetworkAddresses(settings, services.ports, lan);
    if (hasLanChanged)
      console.log(`  the address ${lan} of this machine has changed: run ./svc down, then ./svc up --lan`);
    if (services.mode === 'distributed') printProcesses(settings);
  }
  const broker = findRabbitMq(pathsOf(settings).rabbitMq);
  const needsBroker = services?.ownsBroker === true;
  if (broker !== undefined) {
    const runner = broker.pid === undefined ? `container ${broker.container}` : describeProcess(broker.pid);
    console.log(`RabbitMQ    running    ${runner}\n  127.0.0.1:${broker.port}`);
  } else if (needsBroker) {
    console.log('RabbitMQ    down');
  }
  for (const { name, directory } of databaseServers(settings)) {
    const postgres = findPostgres(directory);
    console.log(
      postgres === undefined
        ? `${name}  down`
        : `${name}  running    ${describeProcess(postgres.pid)}\n  127.0.0.1:${postgres.port}`,
    );
  }
  console.log(`data        ${settings.dataDir}`);
  return isReady && till !== undefined && areAllDatabasesRunning(settings) && (broker !== undefined || !needsBroker);
}

function printAddress(name: string, url: string, state: string): void {
  console.log(`  ${name.padEnd(16)} ${url.padEnd(24)} ${state}`);
}

/** The acquirer of the demo merchants. */
async function printAcquirer({ acquirer, ports }: RunningServices): Promise<void> {
  const [name, port] =
    acquirer === 'adyen-emulator' ? ['Adyen emulator', ports.adyenEmulator] : ['simulated bank', ports.acquirer];
  const page = acquirer === 'adyen-emulator' ? `; its page is ${adyenEmulatorPage(ports)}` : '';
  printAddress(name, urlOf(port), `${await describeResponse(urlOf(port))}${page}`);
}

async function printNetworkAddresses(
  settings: Settings,
  { shop, gateway, api, acquirer }: Ports,
  lan: string,
): Promise<void> {
  const { certificate } = pathsOf(settings).tls;
  const ca = existsSync(certificate) ? readFileSync(certificate) : undefined;
  console.log('  on the network');
  for (const [name, port] of Object.entries({ shop, gateway, API: api, "bank's page": acquirer })) {
    const url = publicUrlOf(lan, port);
    printAddress(name, url, await describeResponse(url, ca));
  }
}

function printProcesses(settings: Settings): void {
  const processes = readProcesses(pathsOf(settings).processes);
  for (const app of SUPERVISED_APPS) {
    const record = processes[app];
    const state = isRunning(record)
      ? `${describeProcess(record.pid)}, port ${record.port}, ${record.restarts} restarts`
      : 'down';
    const developer = record?.servedBy === undefined ? '' : `; served by ./svc nx serve, process ${record.servedBy}`;
    console.log(`  ${app.padEnd(20)} ${state}${developer}`);
  }
}

function describeProcess(pid: number): string {
  const megabytes = readMemoryMegabytes(pid);
  return `process ${pid}${megabytes === undefined ? '' : `, ${megabytes} MB`}`;
}

/** Any response shows that the listener is up. Does not use fetch, which cannot trust a self-signed certificate. */
async function describeResponse(url: string, ca?: Buffer): Promise<string> {
  const started = performance.now();
  const signal = AbortSignal.timeout(2000);
  const liveUrl = `${url}/health/live`;
  try {
    const request = url.startsWith('https:') ? https.get(liveUrl, { ca, signal }) : http.get(liveUrl, { signal });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.destroy();
    return `answers (${Math.round(performance.now() - started)} ms)`;
  } catch {
    return 'does not answer';
  }
}
