// This import must be the first, so that OpenTelemetry can instrument the modules that are loaded after it.
import '@svc/service/telemetry';
import { runService } from '@svc/service';
import { demoShopService } from './index.js';

await runService(demoShopService);
