import { Body, HttpStatus, Inject, Param, Post, Res } from '@nestjs/common';
import { MAX_EMAIL_LENGTH, SendReceiptV1, type SentReceipt } from '@svc/contracts';
import { DomainError, isUuid } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import type { FastifyReply } from 'fastify';
import { Allow, CallingViewer, PageController } from '../access/access.guard.js';
import { readField } from '../layout/forms.js';
import { pathOf } from '../layout/layout.js';
import { redirect } from '../layout/page-sender.js';
import type { MerchantViewer } from '../viewer/viewer.js';
import { describeReceipt, PaymentPages } from './payment-pages.js';

/** A mail server may be slow. */
const MAIL_TIMEOUT_MS = 25_000;

/** Sends the receipt of a payment by e-mail. hosted-gateway owns the receipts and their limits. */
@PageController(':merchantId/:mode/payments/:paymentReference/receipts')
export class ReceiptController {
  constructor(
    @Inject(PaymentPages) private readonly pages: PaymentPages,
    @Inject(Commands) private readonly commands: Commands,
  ) {}

  /** The key of the form makes a repeat, for example a double click, the same mail. */
  @Post()
  @Allow({ right: 'receipts.send' })
  async send(
    @CallingViewer() viewer: MerchantViewer,
    @Param('paymentReference') reference: string,
    @Body() form: unknown,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const payment = await this.pages.getPayment(viewer, reference);
    const email = readField(form, 'email', MAX_EMAIL_LENGTH);
    const idempotencyKey = readField(form, 'key', 36);
    const { result }: SentReceipt =
      email === undefined || !isUuid(idempotencyKey)
        ? { result: 'invalid' }
        : await this.commands
            .request(
              SendReceiptV1,
              {
                ...describeReceipt(payment),
                email,
                idempotencyKey,
                personId: viewer.session.personId,
                requestId: viewer.actor.requestId,
              },
              MAIL_TIMEOUT_MS,
            )
            .catch(toResult);
    if (result === 'sent')
      return redirect(reply, `${pathOf(viewer)}/payments/${payment.paymentReference}?receipt=sent`);
    const message = { kind: 'receipt', result } as const;
    await this.pages.send(reply, HttpStatus.UNPROCESSABLE_ENTITY, viewer, payment, { message });
  }
}

function toResult(error: unknown): SentReceipt {
  if (error instanceof DomainError && error.entry.httpStatus < 500) return { result: 'failed' };
  throw error;
}
