import { HttpStatus, Inject, Param, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Allow, CallingViewer, PageController } from '../access/access.guard.js';
import { CustomerAccess } from '../viewer/customer-access.js';
import type { MerchantViewer } from '../viewer/viewer.js';
import { PaymentPages } from './payment-pages.js';

/** Shows the name of the customer of a payment. */
@PageController(':merchantId/:mode/payments/:paymentReference/customer')
export class CustomerController {
  constructor(
    @Inject(PaymentPages) private readonly pages: PaymentPages,
    @Inject(CustomerAccess) private readonly access: CustomerAccess,
  ) {}

  /** Each request is one entry of the audit log, which is written before the name is shown. */
  @Post()
  @Allow({ right: 'customers.read' })
  async show(
    @CallingViewer() viewer: MerchantViewer,
    @Param('paymentReference') reference: string,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const payment = await this.pages.getPayment(viewer, reference);
    const { siteId, paymentReference } = payment;
    if (payment.customerName !== '')
      await this.access.record(viewer, { action: 'customer.shown', siteId, after: { paymentReference } });
    await this.pages.send(reply, HttpStatus.OK, viewer, payment, { showsCustomer: true });
  }
}
