import { Body, Controller, Get, Inject, Param, Patch, Post, Query, UseGuards } from '@nestjs/common';
import { AdminKeyGuard } from '@svc/auth';
import { invalidField } from '@svc/kernel';
import { Author, type ChangeAuthor } from '../audit-log/change-author.js';
import { numericId } from '../path-ids.js';
import { CreateMerchant } from './create-merchant.js';
import { ListMerchants, MERCHANT_PAGE_SIZE, type MerchantView } from './list-merchants.js';
import { MerchantRequest } from './merchant.requests.js';
import { RenameMerchant } from './rename-merchant.js';

/** Answer to a change of a merchant. */
type MerchantAnswer = Omit<MerchantView, 'sites'>;

/** On-boarding of merchants (A10). Needs `x-admin-key`; errors are RFC 9457 (C5). */
@Controller('admin/v1/merchants')
@UseGuards(AdminKeyGuard)
export class MerchantsController {
  constructor(
    @Inject(CreateMerchant) private readonly createMerchant: CreateMerchant,
    @Inject(RenameMerchant) private readonly renameMerchant: RenameMerchant,
    @Inject(ListMerchants) private readonly listMerchants: ListMerchants,
  ) {}

  /** 201. 400 names `name`. */
  @Post()
  async create(@Author() author: ChangeAuthor, @Body() { name }: MerchantRequest): Promise<MerchantAnswer> {
    return answer(await this.createMerchant.execute(author, name));
  }

  /** 200, also when it has that name already. 400, 404. */
  @Patch(':merchantId')
  async rename(
    @Author() author: ChangeAuthor,
    @Param('merchantId', numericId) merchantId: number,
    @Body() { name }: MerchantRequest,
  ): Promise<MerchantAnswer> {
    return answer(await this.renameMerchant.execute(author, merchantId, name));
  }

  /**
   * 50 at a time, in the order of their ids. `nextAfter` is there when more may follow: send it as `after` for the
   * next page. 400 when `after` is no whole number.
   */
  @Get()
  async list(@Query('after') after: unknown = '0'): Promise<{ merchants: MerchantView[]; nextAfter?: number }> {
    if (typeof after !== 'string' || !/^\d{1,15}$/.test(after))
      throw invalidField('after', 'after must be a whole number');
    const merchants = await this.listMerchants.page(Number(after));
    const last = merchants.at(-1);
    return { merchants, ...(last && merchants.length === MERCHANT_PAGE_SIZE ? { nextAfter: last.merchantId } : {}) };
  }

  /** 200 or 404. */
  @Get(':merchantId')
  get(@Param('merchantId', numericId) merchantId: number): Promise<MerchantView> {
    return this.listMerchants.get(merchantId);
  }
}

function answer(merchant: { merchantId: number; name: string; createdAt: Date }): MerchantAnswer {
  const { merchantId, name, createdAt } = merchant;
  return { merchantId, name, createdUTCDate: createdAt.toISOString() };
}
