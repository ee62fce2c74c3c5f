import { IsAdminKey, ServiceConfig } from '@svc/service';
import { Matches } from 'class-validator';

/** Environment variables of identity, in addition to the environment variables of every service. */
export class IdentityConfig extends ServiceConfig {
  /** The administration key: it gives access to the administration API of this service. A secret. */
  @IsAdminKey()
  SVC_ADMIN_KEY: string;

  /** The key that encrypts the stored private keys of identity tokens: 32 bytes as base64url. A secret. */
  @Matches(/^[A-Za-z0-9_-]{43}$/, { message: '$property must be 32 bytes as base64url' })
  SVC_SEALING_KEY: string;
}
