import { runService } from '@svc/service';
import { webhookDispatcherService } from './index.js';

await runService(webhookDispatcherService);
