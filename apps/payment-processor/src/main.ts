import { runService } from '@svc/service';
import { paymentProcessorService } from './index.js';

await runService(paymentProcessorService);
