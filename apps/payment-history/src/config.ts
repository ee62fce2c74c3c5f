import { IsAdminKey, ServiceConfig } from '@svc/service';

/** Environment variables of payment-history. */
export class PaymentHistoryConfig extends ServiceConfig {
  /** Opens the administration API of this service. A secret. */
  @IsAdminKey()
  SVC_ADMIN_KEY: string;
}
