import { loadConfig, migrateService } from '@svc/service';
import { AllInOneConfig } from './config.js';
import { readServiceEnv, SERVICES } from './services.js';

/** Runs the migrations of every service. Start it with `node dist/migrate.js` before the services start. */
const { SVC_ENV_DIR } = loadConfig(AllInOneConfig, process.env);
for (const definition of SERVICES) {
  const appliedMigrations = await migrateService(definition, readServiceEnv(definition.name, SVC_ENV_DIR));
  console.log(`${definition.name}: ${appliedMigrations.length === 0 ? 'up to date' : appliedMigrations.join(', ')}`);
}
