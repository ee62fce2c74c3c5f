// Must be the first import, because only modules that are loaded later can be instrumented.
import '@svc/service/telemetry';
import { runUntilStopped } from '@svc/service/standalone';
import { readSettings } from './settings.js';
import { startTransformer } from './transformer.js';

/** `node main.js <configuration file>` */
await runUntilStopped(async () => {
  const settings = readSettings(process.argv[2], process.env);
  const transformer = await startTransformer(settings);
  await transformer.app.listen(settings.port, settings.listenAddress);
  transformer.startJobs();
  transformer.log.info(
    {
      address: await transformer.app.getUrl(),
      sites: settings.sites.map(({ siteId }) => siteId),
      node: process.version,
    },
    'pos-transformer listens',
  );
  return () => transformer.close();
});
