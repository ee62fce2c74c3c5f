import { Controller, Get, Header, Inject, Param, Query, UseGuards } from '@nestjs/common';
import { type AuthenticatedMerchant, CallingMerchant, MerchantKeyGuard } from '@svc/auth';
import { isText, MAX_IDENTIFIER_LENGTH, type MerchantPayment } from '@svc/contracts';
import { invalidField, parsePaymentReference } from '@svc/kernel';
import { KeyLimitGuard } from '../limits/key-limit.guard.js';
import { PaymentRepository } from './payment.repository.js';

/**
 * Lets merchants find their payments with three queries. Each query searches one site or all sites of the merchant. The
 * list is empty for an unknown payment and for a payment of another merchant (M1).
 */
@Controller('business/api/v1/merchants/:merchantId')
@UseGuards(MerchantKeyGuard, KeyLimitGuard)
export class PaymentsController {
  constructor(@Inject(PaymentRepository) private readonly payments: PaymentRepository) {}

  /** Lists the payments of an invoice in the last 24 hours, the newest first (M1, M2). */
  @Get(['invoices/:invoiceId/payments', 'sites/:siteId/invoices/:invoiceId/payments'])
  @Header('cache-control', 'no-store')
  async ofInvoice(
    @CallingMerchant() merchant: AuthenticatedMerchant,
    @Param('invoiceId') invoiceId: string,
  ): Promise<MerchantPayment[]> {
    return isText(invoiceId, MAX_IDENTIFIER_LENGTH) ? this.payments.findByInvoice(merchant, invoiceId) : [];
  }

  /**
   * Lists the payments with this reference of the merchant (`externalReference`) in the last 24 hours, the newest first
   * (M1, M2).
   *
   * @query externalReference required
   */
  @Get(['payments', 'sites/:siteId/payments'])
  @Header('cache-control', 'no-store')
  async ofExternalReference(
    @CallingMerchant() merchant: AuthenticatedMerchant,
    @Query('externalReference') reference: unknown,
  ): Promise<MerchantPayment[]> {
    if (typeof reference !== 'string' || reference.length < 1 || reference.length > MAX_IDENTIFIER_LENGTH) {
      const message = `externalReference must be given once, with 1 to ${MAX_IDENTIFIER_LENGTH} characters. To find an order's payments, use payment-search?orderId=`;
      throw invalidField('externalReference', message);
    }
    // If the text is invalid, no invoice can have it as its reference, so the database is not queried.
    return isText(reference, MAX_IDENTIFIER_LENGTH) ? this.payments.findByExternalReference(merchant, reference) : [];
  }

  /**
   * Finds a payment of the last three months by its service payment id (M2). The response is a list with this payment,
   * or `[]` if there is no such payment or the id is malformed (C3).
   */
  @Get(['payments/:svcId', 'sites/:siteId/payments/:svcId'])
  @Header('cache-control', 'no-store')
  async ofServiceId(
    @CallingMerchant() merchant: AuthenticatedMerchant,
    @Param('svcId') svcId: string,
  ): Promise<MerchantPayment[]> {
    const reference = parsePaymentReference(svcId);
    return reference === undefined ? [] : this.payments.findByPaymentReference(merchant, reference);
  }
}
