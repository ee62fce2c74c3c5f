import { Body, Get, HttpStatus, Inject, Param, Post, Query, Res } from '@nestjs/common';
import {
  CreateRefundV1,
  MAX_UNCONFIRMED_REFUND_CENTS,
  maxRefundCents,
  type RefundStatus,
  ResendDeliveryV1,
} from '@svc/contracts';
import { Clock, DomainError, isUuid } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import { sendEventStream } from '@svc/service';
import type { FastifyReply } from 'fastify';
import { renderToString } from 'preact-render-to-string';
import { DataSource } from 'typeorm';
import { Allow, CallingViewer, PageController } from '../access/access.guard.js';
import { formatDecimal, parseAmount } from '../languages/format.js';
import { CONFIRM_PATH } from '../layout/error-page.filter.js';
import { readField } from '../layout/forms.js';
import { pathOf } from '../layout/layout.js';
import { redirect } from '../layout/page-sender.js';
import { LiveLists } from '../live-lists/live-lists.js';
import { awaitReadModel } from '../read-model/await-read-model.js';
import { isConfirmed, type MerchantViewer } from '../viewer/viewer.js';
import { findPayment, type PaymentDetails } from './find-payment.query.js';
import type { PaymentMessage } from './payment-forms.js';
import { computeRefundable, type PageChanges, PaymentPages, sumRefunds } from './payment-pages.js';
import { PaymentHistoryView } from './timeline-view.js';

/** The reply comes after 20 s at the latest, with the refund as `pending`. */
const REFUND_TIMEOUT_MS = 25_000;
const MAX_REASON_LENGTH = 200;
const REFUND_STATUSES: readonly RefundStatus[] = ['pending', 'succeeded', 'failed'];
const RECEIPT_RESULTS = ['sent', 'invalid', 'limited', 'failed'] as const;

/** One payment: what happened, giving money back, sending a webhook again. */
@PageController(':merchantId/:mode/payments/:paymentReference')
export class PaymentController {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(PaymentPages) private readonly pages: PaymentPages,
    @Inject(LiveLists) private readonly live: LiveLists,
    @Inject(Commands) private readonly commands: Commands,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  @Get()
  @Allow({ right: 'payments.read' })
  async show(
    @CallingViewer() viewer: MerchantViewer,
    @Param('paymentReference') reference: string,
    @Query() query: Readonly<Record<string, unknown>>,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const payment = await this.pages.getPayment(viewer, reference);
    const refundAmount = parseAmount(readField(query, 'refundAmount', 20) ?? '');
    await this.pages.send(reply, HttpStatus.OK, viewer, payment, { message: readMessage(query), refundAmount });
  }

  /** Sends what happened to the payment whenever it has changed. */
  @Get('live')
  @Allow({ right: 'payments.read' })
  async watch(
    @CallingViewer() viewer: MerchantViewer,
    @Param('paymentReference') reference: string,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { paymentReference } = await this.pages.getPayment(viewer, reference);
    const stream = this.live.open(viewer, async () => {
      const payment = await this.pages.getPayment(viewer, paymentReference);
      return renderToString(PaymentHistoryView(await this.pages.readHistory(viewer, payment)));
    });
    await sendEventStream(reply, stream);
  }

  /**
   * The key of the form makes a repeat, for example a double click, the same refund. For a large refund the person
   * confirms first, and finds the amount in the form again.
   */
  @Post('refunds')
  @Allow({ right: 'refunds.create' })
  async refund(
    @CallingViewer() viewer: MerchantViewer,
    @Param('paymentReference') reference: string,
    @Body() form: unknown,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const payment = await this.pages.getPayment(viewer, reference);
    const left = computeRefundable(viewer, payment);
    const typedAmount = readField(form, 'amount', 20) ?? '';
    const amount = parseAmount(typedAmount);
    const reason = readField(form, 'reason', MAX_REASON_LENGTH);
    const typedRefund = { amount: typedAmount, reason: reason ?? '' };
    const idempotencyKey = readField(form, 'key', 36);
    if (amount === undefined || amount < 1 || amount > left || !isUuid(idempotencyKey)) {
      const message = { kind: 'invalid-amount', left } as const;
      return this.pages.send(reply, HttpStatus.UNPROCESSABLE_ENTITY, viewer, payment, { message, typedRefund });
    }
    // payment-processor checks the limit again, because another refund may not be in the read model yet.
    const limit = isConfirmed(viewer, this.clock.now()) ? Infinity : MAX_UNCONFIRMED_REFUND_CENTS;
    if (sumRefunds(payment) + amount > limit) return redirect(reply, confirmationPath(viewer, payment, amount));
    try {
      const { merchantId, siteId, mode, paymentReference: svcId } = payment;
      const { personId, roles } = viewer.session;
      const maxRefundedAmount = Math.min(limit, maxRefundCents(roles, { merchantId, siteId }));
      const refund = await this.commands.request(
        CreateRefundV1,
        {
          merchantId,
          siteId,
          mode,
          svcId,
          amount,
          maxRefundedAmount,
          idempotencyKey,
          personId,
          ...(reason === undefined ? {} : { reason }),
        },
        REFUND_TIMEOUT_MS,
      );
      if (refund.status !== 'pending') await this.waitForRefund(viewer, svcId, refund.refundReference);
      await redirect(reply, `${pathOf(viewer)}/payments/${svcId}?refund=${refund.status}&amount=${refund.amount}`);
    } catch (error) {
      await this.showRefusal(reply, viewer, payment, error, { typedRefund });
    }
  }

  @Post('deliveries/:id/resend')
  @Allow({ right: 'deliveries.resend' })
  async resend(
    @CallingViewer() viewer: MerchantViewer,
    @Param('paymentReference') reference: string,
    @Param('id') id: string,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const payment = await this.pages.getPayment(viewer, reference);
    const { merchantId, siteId, mode } = payment;
    try {
      const owner = { merchantId, siteId, mode };
      const { personId } = viewer.session;
      await this.commands.request(ResendDeliveryV1, { owner, id, requestId: viewer.actor.requestId, personId });
      await redirect(reply, `${pathOf(viewer)}/payments/${payment.paymentReference}?done=resent`);
    } catch (error) {
      await this.showRefusal(reply, viewer, payment, error);
    }
  }

  private async showRefusal(
    reply: FastifyReply,
    viewer: MerchantViewer,
    payment: PaymentDetails,
    error: unknown,
    changes: PageChanges = {},
  ): Promise<void> {
    if (!(error instanceof DomainError) || error.entry.httpStatus >= 500) throw error;
    const message = { kind: 'refused', text: error.message } as const;
    await this.pages.send(reply, error.entry.httpStatus, viewer, payment, { ...changes, message });
  }

  /** Waits until the read model contains the refund, so that the next page shows what is left. */
  private async waitForRefund({ scope }: MerchantViewer, svcId: string, refundReference: string): Promise<void> {
    await awaitReadModel(async () => {
      const payment = await findPayment(this.dataSource, scope, svcId);
      return payment?.refunds.some((refund) => refund.refundReference === refundReference) === true;
    });
  }
}

/** The reason is not in the address, because addresses are in logs. */
function confirmationPath(viewer: MerchantViewer, { paymentReference }: PaymentDetails, amount: number): string {
  const next = `${pathOf(viewer)}/payments/${paymentReference}?refundAmount=${formatDecimal(amount)}`;
  return `${CONFIRM_PATH}?next=${encodeURIComponent(next)}`;
}

/** The message after a form, from the address of the page. It contains only numbers and known words. */
function readMessage(query: Readonly<Record<string, unknown>>): PaymentMessage | undefined {
  const status = REFUND_STATUSES.find((known) => known === query['refund']);
  const amount = Number(query['amount']);
  if (status !== undefined && Number.isSafeInteger(amount) && amount > 0) return { kind: 'refunded', status, amount };
  const result = RECEIPT_RESULTS.find((known) => known === query['receipt']);
  if (result !== undefined) return { kind: 'receipt', result };
  if (query['refundAmount'] !== undefined) return { kind: 'confirmed' };
  return query['done'] === 'resent' ? { kind: 'resent' } : undefined;
}
