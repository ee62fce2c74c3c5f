import { runService } from '@svc/service';
import { identityService } from './index.js';

await runService(identityService);
