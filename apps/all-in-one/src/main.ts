// First, so that what is loaded after it can be traced.
import '@svc/service/telemetry';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { Host } from '@svc/contracts';
import { EmbeddedBroker } from '@svc/messaging';
import { listenersOf, loadConfig, newLog, runUntilStopped, startService } from '@svc/service';
import { startSimulatedAcquirer } from '@svc/simulated-acquirer';
import { AllInOneConfig } from './config.js';
import { newFront, stopListening } from './front.js';
import { envOf, SERVICES } from './services.js';

/**
 * All services in one process, over the embedded broker or over RabbitMQ: what `./svc up` runs. Test mode only: with all
 * services in one process the boundary around card data is not one.
 */
await runUntilStopped(async () => {
  const config = loadConfig(AllInOneConfig, process.env);
  const log = newLog('all-in-one', config.SVC_LOG_LEVEL);
  const broker = new EmbeddedBroker();
  const acquirer = await startSimulatedAcquirer(envOf('simulated-acquirer', config.SVC_ENV_DIR));
  const services = await Promise.all(
    SERVICES.map((definition) => startService(definition, { env: envOf(definition.name, config.SVC_ENV_DIR), broker })),
  );
  // Only now, when every consumer is there, so that none is taken for one that is not interested.
  await Promise.all(services.map((service) => service.startRelaying()));

  const ports: Record<Host, number> = {
    api: config.SVC_API_PORT,
    gateway: config.SVC_GATEWAY_PORT,
    shop: config.SVC_SHOP_PORT,
    admin: config.SVC_ADMIN_PORT,
  };
  const fronts: Server[] = [];
  for (const { host, port, address, tls } of listenersOf(ports, config)) {
    const front = newFront(host, services, { tls, errorPages: config.SVC_ERROR_PAGES_URL });
    front.listen(port, address);
    await once(front, 'listening');
    fronts.push(front);
  }
  log.info({ ports }, 'all services are up');

  return async () => {
    // First no new requests, then no new hand-overs, then each service finishes what it has begun.
    await Promise.all(fronts.map((front) => stopListening(front)));
    await Promise.all(services.map((service) => service.stopRelaying()));
    await Promise.all(services.map((service) => service.close()));
    await acquirer.close();
    log.info({}, 'all services have stopped');
  };
});
