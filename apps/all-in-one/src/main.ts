// Imported first, because OpenTelemetry can only instrument modules that are loaded after it.
import '@svc/service/telemetry';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { Host } from '@svc/contracts';
import { EmbeddedBroker } from '@svc/messaging';
import { createListeners, loadConfig, newLog, runUntilStopped, startService } from '@svc/service';
import { startSimulatedAcquirer } from '@svc/simulated-acquirer';
import { AllInOneConfig } from './config.js';
import { createHostListener, stopListening } from './host-listener.js';
import { readServiceEnv, SERVICES } from './services.js';

/**
 * Runs all services in one process; `./svc up` starts it. The services use the embedded broker unless their settings
 * contain the address of RabbitMQ (`SVC_AMQP_URL`). It is only for test
 * mode, because services in one process are not isolated from payment-processor, which decrypts card data.
 */
await runUntilStopped(async () => {
  const config = loadConfig(AllInOneConfig, process.env);
  const log = newLog('all-in-one', config.SVC_LOG_LEVEL);
  const broker = new EmbeddedBroker();
  const acquirer = await startSimulatedAcquirer(readServiceEnv('simulated-acquirer', config.SVC_ENV_DIR));
  const services = await Promise.all(
    SERVICES.map((definition) =>
      startService(definition, { env: readServiceEnv(definition.name, config.SVC_ENV_DIR), broker }),
    ),
  );
  // Start relaying only after all consumers have subscribed, because the relay skips an event type without a
  // subscriber.
  await Promise.all(services.map((service) => service.startRelaying()));
  // A publisher accepts requests for replays when its relay has started.
  await Promise.all(services.map((service) => service.replayAfterRestore()));

  const ports: Record<Host, number> = {
    api: config.SVC_API_PORT,
    gateway: config.SVC_GATEWAY_PORT,
    shop: config.SVC_SHOP_PORT,
    admin: config.SVC_ADMIN_PORT,
    console: config.SVC_CONSOLE_PORT,
  };
  const listeners: Server[] = [];
  for (const { host, port, address, tls } of createListeners(ports, config)) {
    const { SVC_ERROR_PAGES_URL: errorPages, SVC_GATEWAY_URL: gatewayUrl } = config;
    const listener = createHostListener(host, services, { tls, errorPages, gatewayUrl });
    listener.listen(port, address);
    await once(listener, 'listening');
    listeners.push(listener);
  }
  log.info({ ports }, 'all services are up');

  // Stops the process. runUntilStopped calls this function on a signal.
  return async () => {
    // First stop accepting requests, then stop relaying messages, then close each service after its running work.
    await Promise.all(listeners.map((listener) => stopListening(listener)));
    await Promise.all(services.map((service) => service.stopRelaying()));
    await Promise.all(services.map((service) => service.close()));
    await acquirer.close();
    log.info({}, 'all services have stopped');
  };
});
