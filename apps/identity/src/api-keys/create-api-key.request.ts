import type { Mode } from '@svc/contracts';
import { IsIn } from 'class-validator';

const MODES: readonly Mode[] = ['test', 'live'];

/** Body of `POST …/keys`. */
export class CreateApiKeyRequest {
  /** Mode of the key (A6). All requests with the key use this mode. */
  @IsIn(MODES, { message: '$property must be test or live' })
  mode: Mode;
}
