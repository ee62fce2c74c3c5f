import { Module } from '@nestjs/common';
import {
  CredentialsConsumer,
  OperatorKeysModule,
  PartnerAuthModule,
  provideAdminKey,
  provideAuditTrail,
  provideFailedCalls,
} from '@svc/auth';
import { CodeDecoderAdministeredV1, RecordFailedCallsV1 } from '@svc/contracts';
import { administrationControllers } from '@svc/service/administration';
import { CodesController } from './codes/codes.controller.js';
import { DecodeCode } from './codes/decode-code.js';
import { CodeDecoderConfig } from './config.js';
import { CloseInvoice } from './invoices/close-invoice.js';
import { CreateInvoice } from './invoices/create-invoice.js';
import { InvoiceRepository } from './invoices/invoice.repository.js';
import { InvoiceRequestRepository } from './invoices/invoice-request.repository.js';
import { InvoicesController } from './invoices/invoices.controller.js';
import { PayablesConsumer } from './invoices/payables.consumer.js';
import { RequestRetention } from './invoices/request-retention.js';
import { MerchantProfileQuery } from './merchants/merchant-profile.query.js';
import { MerchantsConsumer } from './merchants/merchants.consumer.js';
import { CancelPaymentRequest } from './payment-requests/cancel-payment-request.js';
import { CreatePaymentRequest } from './payment-requests/create-payment-request.js';
import { PaymentRequestsConsumer } from './payment-requests/payment-requests.consumer.js';
import { CodeProviders } from './providers/code-providers.js';
import { CheckExpiredSession } from './sessions/check-expired-session.js';
import { SessionCodeRepository } from './sessions/session-code.repository.js';
import { SessionsConsumer } from './sessions/sessions.consumer.js';
import { TillCodeRepository } from './tills/till-code.repository.js';
import { TillCodesConsumer } from './tills/till-codes.consumer.js';
import { TillsController } from './tills/tills.controller.js';
import { TimelineConsumer } from './timeline/timeline.consumer.js';

@Module({
  imports: [PartnerAuthModule, OperatorKeysModule],
  controllers: [
    CodesController,
    InvoicesController,
    TillsController,
    TillCodesConsumer,
    PayablesConsumer,
    PaymentRequestsConsumer,
    SessionsConsumer,
    CredentialsConsumer,
    MerchantsConsumer,
    TimelineConsumer,
    ...administrationControllers('code-decoder'),
  ],
  providers: [
    CancelPaymentRequest,
    CheckExpiredSession,
    CloseInvoice,
    CodeProviders,
    CreateInvoice,
    CreatePaymentRequest,
    DecodeCode,
    InvoiceRepository,
    InvoiceRequestRepository,
    MerchantProfileQuery,
    RequestRetention,
    SessionCodeRepository,
    TillCodeRepository,
    provideAdminKey(CodeDecoderConfig),
    provideAuditTrail(CodeDecoderAdministeredV1),
    provideFailedCalls(RecordFailedCallsV1),
  ],
})
export class CodeDecoderModule {}
