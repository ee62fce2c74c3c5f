import type { Mode } from '@svc/contracts';
import { IsIn } from 'class-validator';

const MODES: readonly Mode[] = ['test', 'live'];

/** Body of `POST …/keys`. */
export class CreateApiKeyRequest {
  /** Part of the key; all its requests use this mode (A6). */
  @IsIn(MODES, { message: '$property must be test or live' })
  mode: Mode;
}
