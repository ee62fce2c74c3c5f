// This import comes first, because telemetry instruments only modules that are loaded after it.
import '@svc/service/telemetry';
import { runService } from '@svc/service';
import { paymentProcessorService } from './index.js';

await runService(paymentProcessorService);
