import { IsAdminKey, ServiceConfig } from '@svc/service';

/** What payment-history is told by its environment. */
export class PaymentHistoryConfig extends ServiceConfig {
  /** Opens the administration API of this service. A secret. */
  @IsAdminKey()
  SVC_ADMIN_KEY: string;
}
