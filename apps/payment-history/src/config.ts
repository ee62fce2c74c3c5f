import { ServiceConfig } from '@svc/service';
import { IsString, MaxLength, MinLength } from 'class-validator';

/** What payment-history is told by its environment. */
export class PaymentHistoryConfig extends ServiceConfig {
  /** Opens the administration API of this service (header `x-admin-key`, A10). A secret, 32 to 512 characters. */
  @IsString()
  @MinLength(32)
  @MaxLength(512)
  SVC_ADMIN_KEY: string;
}
