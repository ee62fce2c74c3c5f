import { Body, Controller, Get, Inject, Post, Query, UseGuards } from '@nestjs/common';
import { AdminKeyGuard, Author, type ChangeAuthor } from '@svc/auth';
import type { Mode } from '@svc/contracts';
import { invalidField, isNumericId } from '@svc/kernel';
import { IsBoolean, IsIn, IsInt, IsOptional, Max, Min } from 'class-validator';
import { LIMIT_NAMES, MAX_DECLINES, type VelocityLimits } from '../velocity-limits.js';
import { VelocityPolicyRepository, type VelocityPolicyView } from '../velocity-policy.repository.js';
import { SetVelocityLimits } from './set-velocity-limits.js';

/** Limits that are absent have the platform's default. */
export class SetVelocityLimitsRequest implements Partial<VelocityLimits> {
  @IsInt()
  @Min(1)
  @Max(Number.MAX_SAFE_INTEGER)
  merchantId: number;

  @IsIn(['test', 'live'])
  mode: Mode;

  /** While the limits are off, nothing is counted and nothing refused. */
  @IsBoolean()
  enabled: boolean;

  /** Declines of a card within 24 hours. */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(MAX_DECLINES)
  cardDeclinesPerDay?: number;

  /** Declines of a card within 30 days. */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(MAX_DECLINES)
  cardDeclinesPer30Days?: number;

  /** Declined cards of a number range (BIN) within an hour. */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(MAX_DECLINES)
  rangeDeclinesPerHour?: number;

  /** Declined cards of a payer's address within an hour, while the site is under attack. */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(MAX_DECLINES)
  addressDeclinesPerHour?: number;

  /** Declined cards of a partner's organisation within an hour. */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(MAX_DECLINES)
  organisationDeclinesPerHour?: number;

  /** Declined cards of a site within ten minutes from which it can be under attack. */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(MAX_DECLINES)
  siteDeclinesPer10Minutes?: number;

  /** Declined cards of a site within 24 hours from which it can be under attack. */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(MAX_DECLINES)
  siteDeclinesPerDay?: number;
}

/** The limits of merchants against card testing, for administrators. Needs `x-admin-key`. */
@Controller('admin/v1/velocity-limits')
@UseGuards(AdminKeyGuard)
export class VelocityLimitsController {
  constructor(
    @Inject(VelocityPolicyRepository) private readonly policies: VelocityPolicyRepository,
    @Inject(SetVelocityLimits) private readonly setVelocityLimits: SetVelocityLimits,
  ) {}

  /**
   * Lists the settings of a merchant, newest first, at most 1 000. A merchant without a setting for a mode has the
   * platform's limits.
   *
   * @throws request.invalid
   */
  @Get()
  async list(@Query('merchantId') merchantId: unknown): Promise<{ velocityLimits: VelocityPolicyView[] }> {
    if (!isNumericId(merchantId)) throw invalidField('merchantId', 'merchantId must be a number');
    return { velocityLimits: await this.policies.list(Number(merchantId)) };
  }

  /**
   * Sets the limits of a merchant and mode. New payments have the new limits within a second.
   *
   * @throws request.invalid
   * @throws resource.conflict Another administrator set the limits at the same time.
   */
  @Post()
  set(
    @Author() author: ChangeAuthor,
    @Body() { merchantId, mode, enabled, ...limits }: SetVelocityLimitsRequest,
  ): Promise<VelocityPolicyView> {
    const set = LIMIT_NAMES.filter((name) => limits[name] !== undefined);
    const policy = { enabled, limits: Object.fromEntries(set.map((name) => [name, limits[name]])) };
    return this.setVelocityLimits.execute(author, merchantId, mode, policy);
  }
}
