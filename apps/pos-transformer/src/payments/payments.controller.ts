import { Controller, Get, Header, Inject, Param, Query, Req, UseGuards } from '@nestjs/common';
import { DomainError, invalidField } from '@svc/kernel';
import type { FastifyRequest } from 'fastify';
import { AccessGuard } from '../access/access.guard.js';
import { type Basket, BasketRepository } from '../baskets/basket.repository.js';
import { MAX_REFERENCE_LENGTH } from '../baskets/invoice-request.js';
import { Platform } from '../platform/platform.js';
import { TransformerSettings } from '../settings.js';
import {
  type GetPaymentResponse,
  getPaymentResponse,
  type InvoicePaymentResponse,
  invoicePaymentResponse,
  type LocalPayment,
  type PaidBasket,
} from './payment.js';
import { PaymentRepository } from './payment.repository.js';

/**
 * Reads payments from the local store only, because tills poll them every second (T7, T13). The response is 404 until a
 * payment is final.
 */
@Controller()
@UseGuards(AccessGuard)
export class PaymentsController {
  constructor(
    @Inject(BasketRepository) private readonly baskets: BasketRepository,
    @Inject(PaymentRepository) private readonly payments: PaymentRepository,
    @Inject(Platform) private readonly platform: Platform,
    @Inject(TransformerSettings) private readonly settings: TransformerSettings,
  ) {}

  /**
   * Reads the payment of a basket (T7, T13).
   *
   * @throws request.invalid
   * @throws resource.not-found There is no final payment of the basket yet.
   */
  @Get('v1/invoice/:invoiceId/payment')
  @Header('cache-control', 'no-store')
  invoicePayment(@Param('invoiceId') invoiceId: string): InvoicePaymentResponse {
    return invoicePaymentResponse(...this.find('invoiceId', invoiceId, this.platform.siteIds));
  }

  /**
   * Reads the payment of a basket whose reference contains slashes that the till has not encoded (T5). The second path,
   * without a reference, is a 400: Nest responds 404 to an empty parameter.
   *
   * @internal
   */
  @Get(['v1/invoice/*', 'v1/invoice//payment'])
  @Header('cache-control', 'no-store')
  invoicePaymentWithSlashes(@Req() { url }: FastifyRequest): InvoicePaymentResponse {
    const [, encoded] = /^[^?]*?\/v1\/invoice\/([^?]*)\/payment\/?(\?|$)/i.exec(url) ?? [];
    if (encoded === undefined) throw new DomainError('resource.not-found');
    return this.invoicePayment(decodeURIComponent(encoded));
  }

  /**
   * Reads the payment of a basket of the facade (T7, T9).
   *
   * @query MerchantOrderId required
   * @throws request.invalid
   * @throws resource.not-found There is no final payment of the basket yet.
   */
  @Get('GetPayment')
  @Header('cache-control', 'no-store')
  getPayment(@Query('MerchantOrderId') merchantOrderId: unknown): GetPaymentResponse {
    return getPaymentResponse(...this.find('MerchantOrderId', merchantOrderId, [this.settings.facadeSiteId]));
  }

  /** Uses the newest basket with the reference, which is compared as sent: leading zeros count (T5). */
  private find(field: string, reference: unknown, siteIds: readonly number[]): [PaidBasket, LocalPayment] {
    if (typeof reference !== 'string' || reference === '' || reference.length > MAX_REFERENCE_LENGTH)
      throw invalidField(field, `${field} must be text of 1 to ${MAX_REFERENCE_LENGTH} characters`);
    const basket = this.baskets.findByReference(reference, siteIds);
    const payment = basket && this.payments.findDecisive(basket.basketId);
    if (!payment) throw new DomainError('resource.not-found', { message: 'There is no final payment of this order.' });
    return [paidBasket(basket, reference), payment];
  }
}

function paidBasket({ siteId, state }: Basket, reference: string): PaidBasket {
  return { siteId, reference, isVoided: state === 'void' };
}
