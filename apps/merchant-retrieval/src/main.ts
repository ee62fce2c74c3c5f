// First, so that what is loaded after it can be traced.
import '@svc/service/telemetry';
import { runService } from '@svc/service';
import { merchantRetrievalService } from './index.js';

await runService(merchantRetrievalService);
