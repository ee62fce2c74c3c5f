import { ServiceConfig } from '@svc/service';
import { IsString, Matches, MaxLength, MinLength } from 'class-validator';

/** What identity is told by its environment, beside what every service is. */
export class IdentityConfig extends ServiceConfig {
  /**
   * Opens the administration API (header `x-admin-key`, A10). A secret, so there is no default; 32 random bytes as
   * text, at least 32 characters, since nothing slows down somebody who guesses.
   */
  @IsString()
  @MinLength(32)
  @MaxLength(512)
  SVC_ADMIN_KEY: string;

  /** 32 bytes as base64url; seals the private keys that sign identity tokens. A secret. */
  @Matches(/^[A-Za-z0-9_-]{43}$/, { message: '$property must be 32 bytes as base64url' })
  SVC_SEALING_KEY: string;
}
