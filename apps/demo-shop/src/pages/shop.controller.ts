import { randomUUID } from 'node:crypto';
import { Controller, Get, HttpStatus, Inject, Param, Res, UseFilters } from '@nestjs/common';
import { DomainError } from '@svc/kernel';
import type { FastifyReply } from 'fastify';
import { ErrorPageFilter } from './error-page.filter.js';
import { PageSender } from './page-sender.js';
import { ShopAssets } from './shop-assets.js';
import { renderShopPage } from './shop-page.js';

/** The shop page, and the assets of all pages. */
@Controller()
@UseFilters(ErrorPageFilter)
export class ShopController {
  constructor(
    @Inject(ShopAssets) private readonly assets: ShopAssets,
    @Inject(PageSender) private readonly page: PageSender,
  ) {}

  @Get()
  async shop(@Res() reply: FastifyReply): Promise<void> {
    await this.page.send(reply, HttpStatus.OK, renderShopPage(randomUUID()));
  }

  @Get('assets/:file')
  async asset(@Param('file') file: string, @Res() reply: FastifyReply): Promise<void> {
    const asset = this.assets.find(file);
    if (!asset) throw new DomainError('resource.not-found');
    await reply.header('cache-control', 'public, max-age=300').type(asset.contentType).send(asset.content);
  }
}
