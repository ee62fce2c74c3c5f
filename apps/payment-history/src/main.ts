// First, so that what is loaded after it can be traced.
import '@svc/service/telemetry';
import { runService } from '@svc/service';
import { paymentHistoryService } from './index.js';

await runService(paymentHistoryService);
