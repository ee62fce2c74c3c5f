// This import must be the first one, because it instruments the modules that are loaded after it.
import '@svc/service/telemetry';
import { runService } from '@svc/service';
import { paymentHistoryService } from './index.js';

await runService(paymentHistoryService);
