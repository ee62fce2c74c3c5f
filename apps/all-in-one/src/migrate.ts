import { loadConfig, migrateService } from '@svc/service';
import { AllInOneConfig } from './config.js';
import { envOf, SERVICES } from './services.js';

/** Runs the migrations of every service: `node dist/migrate.js`, before the services start. */
const { SVC_ENV_DIR } = loadConfig(AllInOneConfig, process.env);
for (const definition of SERVICES) {
  const ran = await migrateService(definition, envOf(definition.name, SVC_ENV_DIR));
  console.log(`${definition.name}: ${ran.length === 0 ? 'up to date' : ran.join(', ')}`);
}
