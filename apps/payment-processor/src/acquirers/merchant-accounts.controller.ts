import { Body, Controller, Get, Inject, Post, Query, UseGuards } from '@nestjs/common';
import { AdminKeyGuard, Author, type ChangeAuthor } from '@svc/auth';
import { IsText, MAX_IDENTIFIER_LENGTH, type Mode } from '@svc/contracts';
import { invalidField, isNumericId } from '@svc/kernel';
import { IsIn, IsInt, IsOptional, Max, Min } from 'class-validator';
import { Acquirers } from './acquirers.js';
import { MerchantAccountRepository, type MerchantAccountView } from './merchant-account.repository.js';
import { SetMerchantAccount } from './set-merchant-account.js';

export class SetMerchantAccountRequest {
  @IsInt()
  @Min(1)
  @Max(Number.MAX_SAFE_INTEGER)
  merchantId: number;

  @IsIn(['test', 'live'])
  mode: Mode;

  /** The merchant id assigned by the acquirer. */
  @IsText(MAX_IDENTIFIER_LENGTH)
  accountReference: string;

  /** Name of the acquirer; by default the first one. */
  @IsOptional()
  @IsText(MAX_IDENTIFIER_LENGTH)
  acquirer?: string;
}

/** The acquirer and account of each merchant, for administrators. Needs `x-admin-key`. */
@Controller('admin/v1/merchant-accounts')
@UseGuards(AdminKeyGuard)
export class MerchantAccountsController {
  constructor(
    @Inject(MerchantAccountRepository) private readonly accounts: MerchantAccountRepository,
    @Inject(SetMerchantAccount) private readonly setMerchantAccount: SetMerchantAccount,
    @Inject(Acquirers) private readonly acquirers: Acquirers,
  ) {}

  /**
   * Lists all settings, newest first, at most 1 000. A merchant without a setting for a mode uses the acquirer's
   * default account.
   *
   * @throws request.invalid
   */
  @Get()
  async list(@Query('merchantId') merchantId: unknown): Promise<{ merchantAccounts: MerchantAccountView[] }> {
    if (merchantId !== undefined && !isNumericId(merchantId))
      throw invalidField('merchantId', 'merchantId must be a number');
    const requestedMerchantId = merchantId === undefined ? undefined : Number(merchantId);
    return { merchantAccounts: await this.accounts.list(requestedMerchantId) };
  }

  /**
   * Sets the account of a merchant and mode. New charges use the new account within a second. Existing charges keep
   * their account.
   *
   * @throws resource.conflict Another administrator set the account at the same time.
   */
  @Post()
  set(
    @Author() author: ChangeAuthor,
    @Body() { merchantId, mode, accountReference, acquirer = this.acquirers.names[0]! }: SetMerchantAccountRequest,
  ): Promise<MerchantAccountView> {
    if (!this.acquirers.names.includes(acquirer))
      throw invalidField('acquirer', `acquirer must be one of ${this.acquirers.names.join(', ')}`);
    return this.setMerchantAccount.execute(author, merchantId, mode, { acquirer, accountReference });
  }
}
