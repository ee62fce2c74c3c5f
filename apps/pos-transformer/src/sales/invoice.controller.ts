import { Body, Controller, HttpCode, Inject, Param, Post, Req, UseGuards } from '@nestjs/common';
import { DomainError } from '@svc/kernel';
import type { FastifyRequest } from 'fastify';
import { AccessGuard } from '../access/access.guard.js';
import { CallingTill } from '../access/calling-till.js';
import { ownOrigin } from '../access/own-origin.js';
import type { Answer } from '../answers/answer.js';
import { BasketRepository, type Till } from '../baskets/basket.repository.js';
import { codeUrl } from '../baskets/code-url.js';
import { LineRequest, TotalRequest } from '../baskets/requests.js';
import { Platform } from '../platform/platform.js';
import { TransformerSettings } from '../settings.js';
import { CloseBasket } from './close-basket.js';
import { PutLine } from './put-line.js';
import { RequestPayment } from './request-payment.js';

/** The answer to `total`, with the QR code (T1). While the platform is unreachable, it has no QR code (T8). */
interface TotalResponse extends Answer {
  InvoiceReference?: string;
  /** Text of the QR code. */
  Code?: string;
  /** Address of the QR code's image at the transformer. */
  QrSvgUrl?: string;
}

/**
 * Routes for tills that send a basket line by line (T1, T3).
 *
 * @group Lines
 */
@Controller('v1/sites/:siteId/invoice')
@UseGuards(AccessGuard)
export class InvoiceController {
  constructor(
    @Inject(PutLine) private readonly putLine: PutLine,
    @Inject(RequestPayment) private readonly requestPayment: RequestPayment,
    @Inject(CloseBasket) private readonly closeBasket: CloseBasket,
    @Inject(BasketRepository) private readonly baskets: BasketRepository,
    @Inject(Platform) private readonly platform: Platform,
    @Inject(TransformerSettings) private readonly settings: TransformerSettings,
  ) {}

  /**
   * Adds, replaces or removes a line of the basket (T3). A line after a total withdraws the code of the basket: the answer
   * is a WARN, and the till must send total again. While a customer is paying, the answer is a STOP.
   *
   * @throws resource.not-found The site is not configured here.
   */
  @Post('line')
  @HttpCode(200)
  line(@Param('siteId') siteId: string, @CallingTill() till: string, @Body() body: LineRequest): Promise<Answer> {
    return this.putLine.execute(this.resolveTill(siteId, till), {
      id: body.id,
      name: body.itemName,
      productCode: body.itemProductCode,
      price: body.itemPrice,
      quantity: body.itemQuantity,
      lineTotal: body.totalPrice,
    });
  }

  /**
   * Requests the payment of the basket (T1, T11).
   *
   * @throws resource.not-found The site is not configured here.
   */
  @Post('total')
  @HttpCode(200)
  async total(
    @Param('siteId') siteId: string,
    @CallingTill() tillName: string,
    @Body() { amount, reference }: TotalRequest,
    @Req() request: FastifyRequest,
  ): Promise<TotalResponse> {
    const till = this.resolveTill(siteId, tillName);
    const basket = this.baskets.findOpen(till);
    const lines = basket ? this.baskets.listLines(basket.basketId) : [];
    const command = { till, dialect: 'lines' as const, basket, reference, amountCents: amount, content: { lines } };
    const { answer, code } = await this.requestPayment.execute(command);
    if (!code) return answer;
    const qrSvgUrl = codeUrl(this.settings.publicUrl ?? ownOrigin(request), code.token);
    return { ...answer, InvoiceReference: code.invoiceReference, Code: code.code, QrSvgUrl: qrSvgUrl };
  }

  /**
   * Ends the basket (T12).
   *
   * @throws resource.not-found The site is not configured here.
   */
  @Post('reset')
  @HttpCode(200)
  reset(@Param('siteId') siteId: string, @CallingTill() till: string): Promise<Answer> {
    return this.closeBasket.reset(this.resolveTill(siteId, till));
  }

  private resolveTill(siteId: string, till: string): Till {
    if (!/^\d{1,16}$/.test(siteId) || !this.platform.siteIds.includes(Number(siteId)))
      throw new DomainError('resource.not-found', { message: 'This site is not configured here.' });
    return { siteId: Number(siteId), till };
  }
}
