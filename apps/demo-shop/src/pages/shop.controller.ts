import { randomUUID } from 'node:crypto';
import { Controller, Get, HttpStatus, Inject, Param, Res, UseFilters } from '@nestjs/common';
import { DomainError } from '@svc/kernel';
import type { FastifyReply } from 'fastify';
import { ErrorPages } from './error-pages.filter.js';
import { SendPage } from './send-page.js';
import { ShopAssets } from './shop-assets.js';
import { shopPage } from './shop-page.js';

/** The shop window, and the files of all pages. */
@Controller()
@UseFilters(ErrorPages)
export class ShopController {
  constructor(
    @Inject(ShopAssets) private readonly assets: ShopAssets,
    @Inject(SendPage) private readonly page: SendPage,
  ) {}

  @Get()
  async shop(@Res() reply: FastifyReply): Promise<void> {
    await this.page.send(reply, HttpStatus.OK, shopPage(randomUUID()));
  }

  @Get('assets/:file')
  async asset(@Param('file') file: string, @Res() reply: FastifyReply): Promise<void> {
    const asset = this.assets.find(file);
    if (!asset) throw new DomainError('resource.not-found');
    await reply.header('cache-control', 'public, max-age=300').type(asset.contentType).send(asset.content);
  }
}
