import type { Mode } from '@svc/contracts';
import { IsIn } from 'class-validator';

const MODES: readonly Mode[] = ['test', 'live'];

/** Body of `POST …/keys`. */
export class CreateApiKeyRequest {
  /** Written into the key and into every row made with it (A6). */
  @IsIn(MODES, { message: '$property must be test or live' })
  mode: Mode;
}
