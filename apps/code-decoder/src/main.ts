// Must be the first import, because it instruments the modules that are loaded after it.
import '@svc/service/telemetry';
import { runService } from '@svc/service';
import { codeDecoderService } from './index.js';

await runService(codeDecoderService);
