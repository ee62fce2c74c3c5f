import { Body, Controller, Get, HttpCode, Inject, Post, Query, UseGuards } from '@nestjs/common';
import { AdminKeyGuard, Author, type ChangeAuthor } from '@svc/auth';
import type { AttackLevel, Mode } from '@svc/contracts';
import { Clock, invalidField } from '@svc/kernel';
import { IsIn, IsInt, IsOptional, IsString, IsUUID, Matches, Max, MaxLength, Min } from 'class-validator';
import { AttackedSiteRepository } from '../attack-levels/attacked-site.repository.js';
import { DAY_MS } from '../velocity-limits.js';
import { AdministeredCounterRepository, type CounterView } from './administered-counter.repository.js';
import { ChangeCounter } from './change-counter.js';
import { parseSubject } from './counter-subject.js';

const MAX_BLOCK_MS = 365 * DAY_MS;

/**
 * Names one subject: a card by the `svcId` of a declined payment, an address, a site, or a range at a site or of an
 * organisation.
 */
export class ReleaseCounterRequest {
  @IsOptional()
  @IsIn(['test', 'live'])
  mode?: Mode;

  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(Number.MAX_SAFE_INTEGER)
  siteId?: number;

  @IsOptional()
  @IsUUID()
  organisationId?: string;

  /** IPv4 or IPv6. Of IPv6 the network of 64 bits. */
  @IsOptional()
  @IsString()
  @MaxLength(45)
  address?: string;

  /** The `svcId` of a payment that was declined within 30 days. */
  @IsOptional()
  @IsString()
  @MaxLength(40)
  svcId?: string;

  /** The first eight digits of card numbers. */
  @IsOptional()
  @Matches(/^\d{8}$/, { message: '$property must be the first eight digits of the card numbers' })
  range?: string;
}

export class BlockCounterRequest extends ReleaseCounterRequest {
  /**
   * End of the block, ISO 8601 UTC, at most a year from now.
   * @schema date-time
   */
  @Matches(/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?Z$/, {
    message: '$property must be a time such as 2026-03-01T10:00:00Z',
  })
  untilUTCDate: string;
}

/** A counter, and of a site its attack level. */
export interface ShownCounter extends CounterView {
  readonly attackLevel?: AttackLevel;
  /** ISO 8601 UTC. */
  readonly attackUntilUTCDate?: string;
}

/** Declines of cards, ranges, addresses and sites, for administrators. No response contains a hash. Needs `x-admin-key`. */
@Controller('admin/v1/velocity-counters')
@UseGuards(AdminKeyGuard)
export class VelocityCountersController {
  constructor(
    @Inject(AdministeredCounterRepository) private readonly counters: AdministeredCounterRepository,
    @Inject(AttackedSiteRepository) private readonly sites: AttackedSiteRepository,
    @Inject(ChangeCounter) private readonly changeCounter: ChangeCounter,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /**
   * Shows the counter of one subject. The default of `mode` is `live`.
   *
   * @throws request.invalid
   * @throws resource.not-found The card of this payment is not counted.
   */
  @Get()
  async show(
    @Query('mode') mode: unknown,
    @Query('siteId') siteId: unknown,
    @Query('organisationId') organisationId: unknown,
    @Query('address') address: unknown,
    @Query('svcId') svcId: unknown,
    @Query('range') range: unknown,
  ): Promise<ShownCounter> {
    const subject = parseSubject({ mode, siteId, organisationId, address, svcId, range });
    const counter = await this.counters.find(await this.counters.findKeys(subject));
    if (subject.kind !== 'site') return counter;
    const { attack } = await this.sites.find(subject);
    if (!attack || attack.endsAt <= this.clock.now()) return { ...counter, attackLevel: 0 };
    return { ...counter, attackLevel: attack.level, attackUntilUTCDate: attack.endsAt.toISOString() };
  }

  /**
   * Forgets the declines of a subject, and ends its block: for a payer who was refused in error. A site is no longer under
   * attack.
   *
   * @throws request.invalid
   * @throws resource.not-found The card of this payment is not counted.
   * @throws resource.conflict The level of the site changed at the same time.
   */
  @Post('releases')
  @HttpCode(200)
  release(@Author() author: ChangeAuthor, @Body() request: ReleaseCounterRequest): Promise<CounterView> {
    return this.changeCounter.release(author, parseSubject(request));
  }

  /**
   * Refuses all card payments of an address, a range or a card until a time.
   *
   * @throws request.invalid
   * @throws resource.not-found The card of this payment is not counted.
   */
  @Post('blocks')
  @HttpCode(200)
  block(
    @Author() author: ChangeAuthor,
    @Body() { untilUTCDate, ...fields }: BlockCounterRequest,
  ): Promise<CounterView> {
    const subject = parseSubject(fields);
    if (subject.kind === 'site') throw invalidField('siteId', 'A site cannot be blocked: name a range or an address');
    const until = new Date(untilUTCDate);
    if (!(until > this.clock.now() && until <= this.clock.later(MAX_BLOCK_MS)))
      throw invalidField('untilUTCDate', 'untilUTCDate must be in the future, and at most a year from now');
    return this.changeCounter.block(author, subject, until);
  }
}
