import { runService } from '@svc/service';
import { hostedGatewayService } from './index.js';

await runService(hostedGatewayService);
