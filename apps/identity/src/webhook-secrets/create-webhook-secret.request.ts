import type { Mode } from '@svc/contracts';
import { IsIn } from 'class-validator';

const MODES: readonly Mode[] = ['test', 'live'];

/** Body of `POST …/webhook-secrets`. The body is optional. */
export class CreateWebhookSecretRequest {
  /** The secret signs notifications of payments in this mode. */
  @IsIn(MODES, { message: '$property must be test or live' })
  mode: Mode = 'test';
}
