import { Controller, Get, Header, Inject, Param } from '@nestjs/common';
import { DomainError, qrSvg } from '@svc/kernel';
import { BasketRepository } from '../baskets/basket.repository.js';
import { TotalRepository } from '../baskets/total.repository.js';

/**
 * The QR code of a payable basket. The image is served without an API key, because screens cannot send headers when
 * they load an image. That is safe: the URL contains a random token, and the image is meant for customers.
 */
@Controller('codes')
export class CodesController {
  constructor(
    @Inject(BasketRepository) private readonly baskets: BasketRepository,
    @Inject(TotalRepository) private readonly totals: TotalRepository,
  ) {}

  /**
   * Shows the QR code of a basket.
   *
   * @produces image/svg+xml The QR code.
   * @throws resource.not-found The basket has no code that can be paid.
   */
  @Get(':file')
  @Header('content-type', 'image/svg+xml; charset=utf-8')
  @Header('cache-control', 'no-store')
  // Allows pages of other origins to embed the image.
  @Header('cross-origin-resource-policy', 'cross-origin')
  code(@Param('file') file: string): string {
    const token = /^([\w-]{22})\.svg$/.exec(file)?.[1];
    const basket = token === undefined ? undefined : this.baskets.findByToken(token);
    const total = basket && this.totals.findCurrent(basket.basketId);
    // The invoice of a closed basket, or of a withdrawn total, may still be open at the platform during an outage.
    if (basket?.state !== 'open' || total?.state !== 'open' || total.isWithdrawn || total.code === null)
      throw new DomainError('resource.not-found', { message: 'This basket has no code that can be paid.' });
    return qrSvg(total.code, 'QR code to pay this basket');
  }
}
