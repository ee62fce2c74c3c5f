import { PartnerCredentials1763500000020 } from '@svc/auth';
import type { ServiceDefinition } from '@svc/service';
import { PaymentProcessorModule } from './app.module.js';
import { PaymentProcessorConfig } from './config.js';
import { Payments1763500001000 } from './migrations/1763500001000-payments.js';
import { Verifications1763500001001 } from './migrations/1763500001001-verifications.js';
import { PartnerPayments1763500001002 } from './migrations/1763500001002-partner-payments.js';
import { ForgetAfter1763500001003 } from './migrations/1763500001003-forget-after.js';
import { ReversalDecisions1763500001004 } from './migrations/1763500001004-reversal-decisions.js';
import { VerificationQuestions1763500001005 } from './migrations/1763500001005-verification-questions.js';
import { MerchantOfPayment1763500001006 } from './migrations/1763500001006-merchant-of-payment.js';
import { MinimumAmount1763500001007 } from './migrations/1763500001007-minimum-amount.js';
import { CardKeyRotation1763500001008 } from './migrations/1763500001008-card-key-rotation.js';
import { KnownCustomers1763500001010 } from './migrations/1763500001010-known-customers.js';
import { RoomForUpdates1763500001020 } from './migrations/1763500001020-room-for-updates.js';
import { MerchantAccounts1763500001030 } from './migrations/1763500001030-merchant-accounts.js';
import { ApiKeys1763500001031 } from './migrations/1763500001031-api-keys.js';
import { Refunds1763500001032 } from './migrations/1763500001032-refunds.js';
import { Ledger1763500001040 } from './migrations/1763500001040-ledger.js';
import { Fees1763500001041 } from './migrations/1763500001041-fees.js';
import { LedgerSeals1763500001042 } from './migrations/1763500001042-ledger-seals.js';
import { Reconciliations1763500001050 } from './migrations/1763500001050-reconciliations.js';
import { AppendOnlyLedger1763500001060 } from './migrations/1763500001060-append-only-ledger.js';
import { MaximumAmount1763500001070 } from './migrations/1763500001070-maximum-amount.js';

/**
 * Payables, payments, attempts, refunds and the ledger; the only service that decrypts card data and calls the
 * acquirer.
 */
export const paymentProcessorService: ServiceDefinition<PaymentProcessorConfig> = {
  name: 'payment-processor',
  // Accepts long path parameters, so that a call with such a parameter gets a 404 after authentication and not a 414
  // (C3, C5).
  maxParamLength: 16_384,
  // Incoming events may be collected into batches for this time. A payment command contains its payable, so the command
  // need not wait for the event `session.created`.
  maxBatchWaitMs: 20,
  config: PaymentProcessorConfig,
  module: PaymentProcessorModule,
  // These are the migrations, oldest first. Their names never change, because databases store the names.
  migrations: [
    PartnerCredentials1763500000020,
    Payments1763500001000,
    Verifications1763500001001,
    PartnerPayments1763500001002,
    ForgetAfter1763500001003,
    ReversalDecisions1763500001004,
    VerificationQuestions1763500001005,
    MerchantOfPayment1763500001006,
    MinimumAmount1763500001007,
    CardKeyRotation1763500001008,
    KnownCustomers1763500001010,
    RoomForUpdates1763500001020,
    MerchantAccounts1763500001030,
    ApiKeys1763500001031,
    Refunds1763500001032,
    Ledger1763500001040,
    Fees1763500001041,
    LedgerSeals1763500001042,
    Reconciliations1763500001050,
    AppendOnlyLedger1763500001060,
    MaximumAmount1763500001070,
  ],
};
