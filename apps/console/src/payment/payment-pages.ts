import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { FindReceiptV1, maxRefundCents, type ReceiptOptions, type ReceiptRequest } from '@svc/contracts';
import { DomainError, parsePaymentReference } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import type { FastifyReply } from 'fastify';
import { DataSource } from 'typeorm';
import { formatDecimal } from '../languages/format.js';
import { sendPage } from '../layout/page-sender.js';
import type { MerchantViewer } from '../viewer/viewer.js';
import { FindDeliveries } from './find-deliveries.js';
import { findPayment, type PaymentDetails } from './find-payment.query.js';
import type { PaymentMessage, PaymentPage } from './payment-forms.js';
import { renderPaymentPage } from './payment-page.js';
import type { PaymentHistory } from './timeline-view.js';

/** Parts of a page that do not come from the payment. */
export interface PageChanges {
  readonly message?: PaymentMessage | undefined;
  /** Cents of the field of the refund; by default all that is left. */
  readonly refundAmount?: number | undefined;
  /** The fields of a refused form, as the person has typed them. */
  readonly typedRefund?: PaymentPage['refundFields'];
  /** The person has pressed the button that shows the name, and the audit log has the entry. */
  readonly showsCustomer?: boolean;
}

/** Finds a payment for its viewer, and sends its page. */
@Injectable()
export class PaymentPages {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(FindDeliveries) private readonly findDeliveries: FindDeliveries,
    @Inject(Commands) private readonly commands: Commands,
  ) {}

  /** Throws `resource.not-found`, also for a payment of another merchant, mode or site. */
  async getPayment({ scope }: MerchantViewer, reference: string): Promise<PaymentDetails> {
    const paymentReference = parsePaymentReference(reference);
    const payment =
      paymentReference === undefined ? undefined : await findPayment(this.dataSource, scope, paymentReference);
    if (!payment) throw new DomainError('resource.not-found');
    return payment;
  }

  async send(
    reply: FastifyReply,
    status: number,
    viewer: MerchantViewer,
    payment: PaymentDetails,
    { message, refundAmount, typedRefund, showsCustomer = false }: PageChanges = {},
  ): Promise<void> {
    const [history, receipt] = await Promise.all([this.readHistory(viewer, payment), this.findReceipt(payment)]);
    const refundable = computeRefundable(viewer, payment);
    const html = renderPaymentPage({
      ...history,
      message,
      receipt: viewer.can('receipts.send', payment.siteId) ? receipt : receipt && { ...receipt, canMail: false },
      showsCustomer,
      refundable,
      unrefunded: computeUnrefunded(payment),
      refundFields: typedRefund ?? {
        amount: formatDecimal(Math.min(refundAmount ?? refundable, refundable)),
        reason: '',
      },
      formKey: randomUUID(),
    });
    await sendPage(reply, status, html);
  }

  /** The part of the history that the person may see: a payment alone gives no right to its webhooks and disputes. */
  async readHistory(viewer: MerchantViewer, payment: PaymentDetails): Promise<PaymentHistory> {
    const { siteId } = payment;
    const deliveries = viewer.can('deliveries.read', siteId) ? await this.findDeliveries.execute(payment) : [];
    const disputes = viewer.can('disputes.read', siteId) ? payment.disputes : [];
    return { viewer, payment: { ...payment, disputes }, deliveries };
  }

  /** @returns undefined without a receipt, and while hosted-gateway does not respond */
  private async findReceipt(payment: PaymentDetails): Promise<ReceiptOptions | undefined> {
    if (payment.state !== 'success') return undefined;
    try {
      return await this.commands.request(FindReceiptV1, describeReceipt(payment));
    } catch (error) {
      if (error instanceof DomainError && (error.code === 'resource.not-found' || error.entry.httpStatus >= 500))
        return undefined;
      throw error;
    }
  }
}

/** The payment, as hosted-gateway looks up its receipt. */
export function describeReceipt(payment: PaymentDetails): ReceiptRequest {
  const { merchantId, siteId, mode, paymentReference, payableId, source, code } = payment;
  return { merchantId, siteId, mode, paymentReference, payableId, source, code };
}

/** The amount in cents that the person may still give back. payment-processor decides; this only limits the form. */
export function computeRefundable({ session }: MerchantViewer, payment: PaymentDetails): number {
  const { merchantId, siteId } = payment;
  const left = maxRefundCents(session.roles, { merchantId, siteId }) - sumRefunds(payment);
  return Math.max(0, Math.min(left, computeUnrefunded(payment)));
}

/** Cents that people with the highest role may still give back. */
function computeUnrefunded(payment: PaymentDetails): number {
  const { method, state, processedAmount, reversals } = payment;
  if (method !== 'Card' || state !== 'success' || reversals.some(({ captureFailed }) => captureFailed)) return 0;
  return Math.max(0, processedAmount - sumRefunds(payment));
}

/** Cents that were given back, with refunds whose outcome is not known. */
export function sumRefunds({ refunds }: PaymentDetails): number {
  return refunds.reduce((sum, { status, amount }) => (status === 'failed' ? sum : sum + amount), 0);
}
