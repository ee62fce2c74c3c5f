import type { Host } from '@svc/contracts';
import { createListeners, loadConfig, newLog, runUntilStopped } from '@svc/service';
import { FrontConfig, readUpstreams } from './config.js';
import { AppDraining } from './draining.js';
import { newFront } from './front.js';

/** A message of the parent process before (`close`) and after (`open`) it restarts an app. */
type DrainMessage = { readonly close: string } | { readonly open: string };

await runUntilStopped(async () => {
  const config = loadConfig(FrontConfig, process.env);
  const log = newLog('front', config.SVC_LOG_LEVEL);
  const draining = new AppDraining();
  const ports: Record<Host, number> = {
    api: config.SVC_API_PORT,
    gateway: config.SVC_GATEWAY_PORT,
    shop: config.SVC_SHOP_PORT,
    admin: config.SVC_ADMIN_PORT,
    console: config.SVC_CONSOLE_PORT,
  };
  const upstreams = readUpstreams(config);
  const fronts = await Promise.all(
    createListeners(ports, config).map(async ({ host, port, address, tls }) => {
      const { SVC_ERROR_PAGES_URL: errorPages, SVC_GATEWAY_URL: gatewayUrl } = config;
      const front = newFront({ host, upstreams, draining, log, tls, errorPages, gatewayUrl });
      await front.listen({ port, host: address });
      return front;
    }),
  );
  process.on('message', (message: DrainMessage) => {
    if ('open' in message) return draining.resume(message.open);
    void draining.drain(message.close).then(() => process.send?.({ closed: message.close }));
  });
  // The parent process has exited and cannot resume the apps that it drained.
  process.on('disconnect', () => [...upstreams.keys()].forEach((app) => draining.resume(app)));
  log.info({ ports, upstreams: Object.fromEntries(upstreams) }, 'the front listens');

  return async () => {
    await Promise.all(fronts.map((front) => front.close()));
    log.info({}, 'the front has stopped');
  };
});
