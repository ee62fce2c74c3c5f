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

interface MerchantAccountList {
  readonly merchantAccounts: MerchantAccountView[];
  /** Names of the configured acquirers of each mode. Without an acquirer for live payments the list is empty. */
  readonly acquirers: Readonly<Record<Mode, readonly string[]>>;
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
   * Lists all settings, newest first, at most 1 000, and the configured acquirers. A merchant without a setting for a
   * mode uses the acquirer's default account.
   *
   * @throws request.invalid
   */
  @Get()
  async list(@Query('merchantId') merchantId: unknown): Promise<MerchantAccountList> {
    if (merchantId !== undefined && !isNumericId(merchantId))
      throw invalidField('merchantId', 'merchantId must be a number');
    const requestedMerchantId = merchantId === undefined ? undefined : Number(merchantId);
    const acquirers = { test: this.acquirers.namesFor('test'), live: this.acquirers.namesFor('live') };
    return { merchantAccounts: await this.accounts.list(requestedMerchantId), acquirers };
  }

  /**
   * Sets the account of a merchant and mode. New charges use the new account within a second. Existing charges keep
   * their account. Rejects an acquirer that is not configured for the mode.
   *
   * @throws request.invalid
   * @throws resource.conflict Another administrator set the account at the same time.
   */
  @Post()
  set(
    @Author() author: ChangeAuthor,
    @Body() { merchantId, mode, accountReference, acquirer = this.acquirers.names[0]! }: SetMerchantAccountRequest,
  ): Promise<MerchantAccountView> {
    if (!this.acquirers.names.includes(acquirer))
      throw invalidField('acquirer', `acquirer must be one of ${this.acquirers.names.join(', ')}`);
    const namesForMode = this.acquirers.namesFor(mode);
    if (!namesForMode.includes(acquirer))
      throw invalidField(
        'mode',
        `mode must not be ${mode}, because ${acquirer} has no ${mode} settings. Acquirers with ${mode} settings: ${namesForMode.join(', ') || 'none'}`,
      );
    return this.setMerchantAccount.execute(author, merchantId, mode, { acquirer, accountReference });
  }
}
