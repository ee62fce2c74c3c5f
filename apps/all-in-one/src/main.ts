// First, so that modules loaded later can be instrumented.
import '@svc/service/telemetry';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { Host } from '@svc/contracts';
import { EmbeddedBroker } from '@svc/messaging';
import { createListeners, loadConfig, newLog, runUntilStopped, startService } from '@svc/service';
import { startSimulatedAcquirer } from '@svc/simulated-acquirer';
import { AllInOneConfig } from './config.js';
import { newFront, stopListening } from './front.js';
import { envOf, SERVICES } from './services.js';

/**
 * All services in one process, with the embedded broker or RabbitMQ; `./svc up` runs it. Test mode only: in one process there is
 * no boundary around card data.
 */
await runUntilStopped(async () => {
  const config = loadConfig(AllInOneConfig, process.env);
  const log = newLog('all-in-one', config.SVC_LOG_LEVEL);
  const broker = new EmbeddedBroker();
  const acquirer = await startSimulatedAcquirer(envOf('simulated-acquirer', config.SVC_ENV_DIR));
  const services = await Promise.all(
    SERVICES.map((definition) => startService(definition, { env: envOf(definition.name, config.SVC_ENV_DIR), broker })),
  );
  // Start relaying only after all consumers have subscribed: an event type without a subscriber is skipped.
  await Promise.all(services.map((service) => service.startRelaying()));

  const ports: Record<Host, number> = {
    api: config.SVC_API_PORT,
    gateway: config.SVC_GATEWAY_PORT,
    shop: config.SVC_SHOP_PORT,
    admin: config.SVC_ADMIN_PORT,
  };
  const fronts: Server[] = [];
  for (const { host, port, address, tls } of createListeners(ports, config)) {
    const front = newFront(host, services, { tls, errorPages: config.SVC_ERROR_PAGES_URL });
    front.listen(port, address);
    await once(front, 'listening');
    fronts.push(front);
  }
  log.info({ ports }, 'all services are up');

  return async () => {
    // First stop accepting requests, then stop relaying messages, then let each service finish its work.
    await Promise.all(fronts.map((front) => stopListening(front)));
    await Promise.all(services.map((service) => service.stopRelaying()));
    await Promise.all(services.map((service) => service.close()));
    await acquirer.close();
    log.info({}, 'all services have stopped');
  };
});
