import { Body, Controller, HttpCode, Inject, Post, UseGuards } from '@nestjs/common';
import { AccessGuard } from '../access/access.guard.js';
import { CallingTill } from '../access/calling-till.js';
import type { Answer } from '../answers/answer.js';
import type { BasketContent } from '../baskets/basket.js';
import { BasketRepository } from '../baskets/basket.repository.js';
import { BasketClosedRequest, BasketRequest } from '../baskets/requests.js';
import { TransformerSettings } from '../settings.js';
import { CloseBasket } from './close-basket.js';
import { RequestPayment } from './request-payment.js';

/**
 * The facade: routes for tills that send whole baskets (T1, T3). Their requests contain no site, because the
 * configuration sets the site (T5).
 */
@Controller()
@UseGuards(AccessGuard)
export class FacadeController {
  constructor(
    @Inject(RequestPayment) private readonly requestPayment: RequestPayment,
    @Inject(CloseBasket) private readonly closeBasket: CloseBasket,
    @Inject(BasketRepository) private readonly baskets: BasketRepository,
    @Inject(TransformerSettings) private readonly settings: TransformerSettings,
  ) {}

  /** Accepts a whole basket with a new or updated total. The customer display shows its QR code (T1, T3). */
  @Post('Basket')
  @HttpCode(200)
  async basket(@CallingTill() tillName: string, @Body() body: BasketRequest): Promise<Answer> {
    const till = { siteId: this.settings.facadeSiteId, till: tillName };
    const reference = body.MerchantOrderId;
    const { answer } = await this.requestPayment.execute({
      till,
      dialect: 'facade',
      basket: this.baskets.findOrder(till, reference),
      reference,
      amountCents: body.TotalToPay,
      content: basketContent(body),
    });
    return answer;
  }

  /** Closes a basket: `Complete`, `Void` or `Saved` (T12). */
  @Post('BasketClosed')
  @HttpCode(200)
  basketClosed(@CallingTill() till: string, @Body() body: BasketClosedRequest): Promise<Answer> {
    const { MerchantOrderId, OrderStatus } = body;
    return this.closeBasket.closeOrder({ siteId: this.settings.facadeSiteId, till }, MerchantOrderId, OrderStatus);
  }
}

/** Each product with a quantity other than 0 becomes a line. All fields of the basket are stored (T3). */
function basketContent({ Products, BasketDiscounts, Tenders }: BasketRequest): BasketContent {
  const products = Products ?? [];
  return {
    lines: products
      .map((product, index) => ({
        id: index + 1,
        name: product.ProductName ?? '',
        productCode: product.ProductCode ?? '',
        price: product.ActualUnitPrice,
        quantity: product.Quantity,
        lineTotal: 0,
      }))
      .filter(({ quantity }) => quantity !== 0),
    order: { Products: products, BasketDiscounts: BasketDiscounts ?? [], Tenders: Tenders ?? [] },
  };
}
