import { Body, Controller, Get, Inject, Param, Patch, Post, Query, UseGuards } from '@nestjs/common';
import { AdminKeyGuard, Author, type ChangeAuthor } from '@svc/auth';
import { invalidField } from '@svc/kernel';
import { numericId } from '../path-ids.js';
import { ChangeMerchant } from './change-merchant.js';
import { CreateMerchant } from './create-merchant.js';
import {
  type ListedMerchant,
  ListMerchants,
  type MerchantView,
  type MerchantWithSites,
  toMerchantView,
} from './list-merchants.js';
import { MERCHANT_PAGE_SIZE } from './merchant.repository.js';
import { ChangeMerchantRequest, CreateMerchantRequest } from './merchant.requests.js';

/** On-boarding of merchants (A10). Requires `x-admin-key`. Errors are RFC 9457 (C5). */
@Controller('admin/v1/merchants')
@UseGuards(AdminKeyGuard)
export class MerchantsController {
  constructor(
    @Inject(CreateMerchant) private readonly createMerchant: CreateMerchant,
    @Inject(ChangeMerchant) private readonly changeMerchant: ChangeMerchant,
    @Inject(ListMerchants) private readonly listMerchants: ListMerchants,
  ) {}

  /** Creates a merchant. */
  @Post()
  async create(@Author() author: ChangeAuthor, @Body() request: CreateMerchantRequest): Promise<MerchantView> {
    return toMerchantView(await this.createMerchant.execute(author, request));
  }

  /**
   * Changes a merchant. Fields that are absent in the request do not change.
   *
   * @returns 200 The merchant, even if nothing has changed.
   * @throws resource.not-found
   */
  @Patch(':merchantId')
  async change(
    @Author() author: ChangeAuthor,
    @Param('merchantId', numericId) merchantId: number,
    @Body() request: ChangeMerchantRequest,
  ): Promise<MerchantView> {
    return toMerchantView(await this.changeMerchant.execute(author, merchantId, request));
  }

  /**
   * Lists merchants in pages of 50, ordered by id, with the number of their sites. If `nextAfter` is present, send it
   * as `after` to get the next page.
   *
   * @throws request.invalid
   */
  @Get()
  async list(@Query('after') after: unknown = '0'): Promise<{ merchants: ListedMerchant[]; nextAfter?: number }> {
    if (typeof after !== 'string' || !/^\d{1,15}$/.test(after))
      throw invalidField('after', 'after must be a whole number');
    const merchants = await this.listMerchants.getPage(Number(after));
    const last = merchants.at(-1);
    return { merchants, ...(last && merchants.length === MERCHANT_PAGE_SIZE ? { nextAfter: last.merchantId } : {}) };
  }

  /**
   * Returns a merchant with all its sites.
   *
   * @throws resource.not-found
   */
  @Get(':merchantId')
  get(@Param('merchantId', numericId) merchantId: number): Promise<MerchantWithSites> {
    return this.listMerchants.get(merchantId);
  }
}
