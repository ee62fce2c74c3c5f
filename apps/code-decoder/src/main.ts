// First, so that what is loaded after it can be traced.
import '@svc/service/telemetry';
import { runService } from '@svc/service';
import { codeDecoderService } from './index.js';

await runService(codeDecoderService);
