import { PartnerCredentialBounds1763500000021, PartnerCredentials1763500000020 } from '@svc/auth';
import type { ServiceDefinition } from '@svc/service';
import { PaymentHistoryModule } from './app.module.js';
import { PaymentHistoryConfig } from './config.js';
import { Payments1763500007000 } from './migrations/1763500007000-payments.js';
import { BegunWithItsPast1763500007010 } from './migrations/1763500007010-begun-with-its-past.js';
import { PaymentBounds1763500007020 } from './migrations/1763500007020-payment-bounds.js';
import { PaymentBoundsHold1763500007021 } from './migrations/1763500007021-payment-bounds-hold.js';
import { CustomerIdAsSent1763500007030 } from './migrations/1763500007030-customer-id-as-sent.js';
import { CustomerIdAsSentHolds1763500007031 } from './migrations/1763500007031-customer-id-as-sent-holds.js';
import { RoomForUpdates1763500007040 } from './migrations/1763500007040-room-for-updates.js';
import { MerchantOfPayment1763500007050 } from './migrations/1763500007050-merchant-of-payment.js';

/** Shows partners and their customers their payments: a single payment, or the history in pages. */
export const paymentHistoryService: ServiceDefinition<PaymentHistoryConfig> = {
  name: 'payment-history',
  // Accepts long path parameters, so that a request with a long parameter is authenticated before it gets a 404 (C3,
  // C5).
  maxParamLength: 16_384,
  config: PaymentHistoryConfig,
  module: PaymentHistoryModule,
  // Events may be gathered for 20 ms, because a payment that a partner waits for arrives earlier, by the command
  // show-payment.
  maxBatchWaitMs: 20,
  // These are the migrations, oldest first. Their names never change, because databases store the names.
  migrations: [
    PartnerCredentials1763500000020,
    PartnerCredentialBounds1763500000021,
    Payments1763500007000,
    BegunWithItsPast1763500007010,
    PaymentBounds1763500007020,
    PaymentBoundsHold1763500007021,
    CustomerIdAsSent1763500007030,
    CustomerIdAsSentHolds1763500007031,
    RoomForUpdates1763500007040,
    MerchantOfPayment1763500007050,
  ],
};
