import { Controller, Get, Inject, Param, Query, UseGuards } from '@nestjs/common';
import { AdminKeyGuard } from '@svc/auth';
import { DomainError, invalidField } from '@svc/kernel';
import { isDay } from './day.js';
import { type ClosedDay, type DayRange, SealRepository } from './seal.repository.js';
import { type VerifiedPage, VerifyLedger } from './verify-ledger.js';

/** About three years. */
const DAYS_MAX = 1_000;

/** The chain over the ledger, for administrators. Needs `x-admin-key`. */
@Controller('admin/v1/ledger')
@UseGuards(AdminKeyGuard)
export class LedgerController {
  constructor(
    @Inject(SealRepository) private readonly seals: SealRepository,
    @Inject(VerifyLedger) private readonly verifyLedger: VerifyLedger,
  ) {}

  /** Lists the roots of closed days, the newest 1 000 first. */
  @Get('days')
  async days(): Promise<{ days: readonly ClosedDay[] }> {
    return { days: await this.seals.listDays(DAYS_MAX) };
  }

  /**
   * Reads the seals in which the transfers of a closed day are.
   *
   * @throws request.invalid
   * @throws resource.not-found The day is not closed.
   */
  @Get('days/:day')
  async day(@Param('day') day: string): Promise<DayRange> {
    if (!isDay(day)) throw invalidField('day', 'day must be a date, for example 2026-03-01');
    const found = await this.seals.findDay(day);
    if (!found) throw new DomainError('resource.not-found');
    return found;
  }

  /**
   * Verifies a page of seals. Those after `after`, up to `until` where it is given.
   *
   * @returns 200 Also where something is wrong.
   * @throws request.invalid
   */
  @Get('verification')
  async verification(@Query('after') after: unknown = '0', @Query('until') until?: unknown): Promise<VerifiedPage> {
    return this.verifyLedger.verifyPage(
      sealNumber('after', after),
      until === undefined ? undefined : sealNumber('until', until),
    );
  }
}

function sealNumber(field: string, value: unknown): number {
  if (typeof value !== 'string' || !/^\d{1,15}$/.test(value))
    throw invalidField(field, `${field} must be a whole number`);
  return Number(value);
}
