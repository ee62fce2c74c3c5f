import type { Mode } from '@svc/contracts';
import { IsIn } from 'class-validator';

const MODES: readonly Mode[] = ['test', 'live'];

/** Body of `POST …/webhook-secrets`; optional. */
export class CreateWebhookSecretRequest {
  /** Signs the notifications of payments of this mode. */
  @IsIn(MODES, { message: '$property must be test or live' })
  mode: Mode = 'test';
}
