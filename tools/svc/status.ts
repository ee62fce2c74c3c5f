import { findPostgres } from './postgres-process.ts';
import { readMemoryMegabytes } from './process-identity.ts';
import { SUPERVISED, isRunning, readProcesses } from './processes.ts';
import { findRabbitMq } from './rabbitmq-process.ts';
import { findServices, isHealthy } from './services.ts';
import { pathsOf, urlOf } from './settings.ts';
import type { Settings } from './settings.ts';

/** Shows what runs, where, and how it is. Returns whether everything is up and healthy. */
export async function status(settings: Settings): Promise<boolean> {
  const services = findServices(settings);
  const server = findPostgres(pathsOf(settings).postgres);
  const isReady = services !== undefined && (await isHealthy(services.ports));
  if (services === undefined) {
    console.log('services    down');
  } else {
    console.log(
      `services    ${isReady ? 'ready' : 'not ready'}  ${describe(services.pid)}, since ${services.startedAt}`,
    );
    const { shop, gateway, api, admin } = services.ports;
    for (const [name, port] of Object.entries({ shop, gateway, API: api, administration: admin })) {
      console.log(`  ${name.padEnd(16)} ${urlOf(port).padEnd(24)} ${await describeAnswer(urlOf(port))}`);
    }
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
  return isReady && server !== undefined && (broker !== undefined || !needsBroker);
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

async function describeAnswer(url: string): Promise<string> {
  const started = performance.now();
  try {
    // Any answer will do: what is asked is whether somebody is there. This path renders no page.
    const response = await fetch(`${url}/health/live`, { redirect: 'manual', signal: AbortSignal.timeout(2000) });
    await response.body?.cancel();
    return `answers (${Math.round(performance.now() - started)} ms)`;
  } catch {
    return 'does not answer';
  }
}
