import { Module } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import { AccessGuard } from './access/access.guard.js';
import { BasketRepository } from './baskets/basket.repository.js';
import { TotalRepository } from './baskets/total.repository.js';
import { PlatformClock } from './clock/platform-clock.js';
import { PlatformTimeRepository } from './clock/platform-time.repository.js';
import { CleanupJob } from './jobs/cleanup-job.js';
import { PollRefunds } from './jobs/poll-refunds.js';
import { RenewInvoices } from './jobs/renew-invoices.js';
import { SyncPayments } from './jobs/sync-payments.js';
import { BasketDisplays } from './pages/basket-displays.js';
import { CodesController } from './pages/codes.controller.js';
import { PagesController } from './pages/pages.controller.js';
import { ApplyPayment } from './payments/apply-payment.js';
import { PaymentRepository } from './payments/payment.repository.js';
import { PaymentsController } from './payments/payments.controller.js';
import { AlertRepository } from './platform/alert.repository.js';
import { CALL_HANDLERS, type CallHandlers } from './platform/call-handler.js';
import { CallSender } from './platform/call-sender.js';
import { OutgoingCallRepository } from './platform/outgoing-call.repository.js';
import { Platform } from './platform/platform.js';
import { RefundRepository } from './refunds/refund.repository.js';
import { RefundCalls } from './refunds/refund-calls.js';
import { RefundPayment } from './refunds/refund-payment.js';
import { RefundsController } from './refunds/refunds.controller.js';
import { SettleRefund } from './refunds/settle-refund.js';
import { CloseBasket } from './sales/close-basket.js';
import { FacadeController } from './sales/facade.controller.js';
import { InvoiceController } from './sales/invoice.controller.js';
import { InvoiceCalls } from './sales/invoice-calls.js';
import { PutLine } from './sales/put-line.js';
import { RequestPayment } from './sales/request-payment.js';
import { WithdrawTotal } from './sales/withdraw-total.js';
import { ChangeNotifier } from './store/change-notifier.js';
import { OldDataRepository } from './store/old-data.repository.js';

@Module({
  controllers: [
    InvoiceController,
    FacadeController,
    PaymentsController,
    RefundsController,
    CodesController,
    PagesController,
  ],
  providers: [
    AccessGuard,
    AlertRepository,
    {
      provide: CALL_HANDLERS,
      inject: [InvoiceCalls, RefundCalls],
      useFactory: ({ createHandler, closeHandler }: InvoiceCalls, refund: RefundCalls): CallHandlers => ({
        'create-invoice': createHandler,
        'close-invoice': closeHandler,
        refund,
      }),
    },
    ApplyPayment,
    BasketRepository,
    // Everything that decides by a time uses the platform's time (T14).
    { provide: Clock, useExisting: PlatformClock },
    PlatformClock,
    PlatformTimeRepository,
    ChangeNotifier,
    CleanupJob,
    OldDataRepository,
    CloseBasket,
    SyncPayments,
    InvoiceCalls,
    OutgoingCallRepository,
    PaymentRepository,
    Platform,
    PutLine,
    PollRefunds,
    RefundCalls,
    SettleRefund,
    RefundPayment,
    RefundRepository,
    RenewInvoices,
    RequestPayment,
    CallSender,
    BasketDisplays,
    TotalRepository,
    WithdrawTotal,
  ],
})
export class PosTransformerModule {}
