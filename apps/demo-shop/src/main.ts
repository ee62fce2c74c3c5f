import { runService } from '@svc/service';
import { demoShopService } from './index.js';

await runService(demoShopService);
