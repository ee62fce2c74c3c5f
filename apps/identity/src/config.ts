import { IsAdminKey, ServiceConfig } from '@svc/service';
import { Matches } from 'class-validator';

/** Environment variables of identity, beside those of every service. */
export class IdentityConfig extends ServiceConfig {
  /** Opens the administration API of this service. A secret. */
  @IsAdminKey()
  SVC_ADMIN_KEY: string;

  /** 32 bytes as base64url; encrypts the private keys that sign identity tokens. A secret. */
  @Matches(/^[A-Za-z0-9_-]{43}$/, { message: '$property must be 32 bytes as base64url' })
  SVC_SEALING_KEY: string;
}
