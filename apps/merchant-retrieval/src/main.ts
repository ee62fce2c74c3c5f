// This import must be the first one, because it instruments the modules that are loaded after it.
import '@svc/service/telemetry';
import { runService } from '@svc/service';
import { merchantRetrievalService } from './index.js';

await runService(merchantRetrievalService);
