// First, so that telemetry instruments all modules loaded after it.
import '@svc/service/telemetry';
import { runService } from '@svc/service';
import { paymentProcessorService } from './index.js';

await runService(paymentProcessorService);
