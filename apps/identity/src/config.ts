import { IsAdminKey, ServiceConfig } from '@svc/service';
import { Matches } from 'class-validator';

/** What identity is told by its environment, beside what every service is. */
export class IdentityConfig extends ServiceConfig {
  /** Opens the administration API of this service. A secret. */
  @IsAdminKey()
  SVC_ADMIN_KEY: string;

  /** 32 bytes as base64url; seals the private keys that sign identity tokens. A secret. */
  @Matches(/^[A-Za-z0-9_-]{43}$/, { message: '$property must be 32 bytes as base64url' })
  SVC_SEALING_KEY: string;
}
