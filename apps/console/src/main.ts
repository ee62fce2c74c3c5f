// Must be the first import: only packages that are loaded after it are traced.
import '@svc/service/telemetry';
import { runService } from '@svc/service';
import { consoleService } from './index.js';

await runService(consoleService);
