import { Controller, Get, Inject, Param, Query, UseGuards } from '@nestjs/common';
import { AdminKeyGuard } from '@svc/auth';
import { DomainError, invalidField, isCalendarDay } from '@svc/kernel';
import { type ClosedDay, type DayRange, SealRepository, type SealView } from './seal.repository.js';
import { type VerifiedPage, VerifyLedger } from './verify-ledger.js';

/** The days of almost three years. */
const MAX_LISTED_DAYS = 1_000;

/** The hash chain over the ledger, for administrators. Needs `x-admin-key`. */
@Controller('admin/v1/ledger')
@UseGuards(AdminKeyGuard)
export class LedgerController {
  constructor(
    @Inject(SealRepository) private readonly seals: SealRepository,
    @Inject(VerifyLedger) private readonly verifyLedger: VerifyLedger,
  ) {}

  /** Lists the root hashes of closed days, newest first, at most 1 000. */
  @Get('days')
  async days(): Promise<{ days: readonly ClosedDay[] }> {
    return { days: await this.seals.listDays(MAX_LISTED_DAYS) };
  }

  /**
   * Reads the range of seals with the transfers of a closed day.
   *
   * @throws request.invalid
   * @throws resource.not-found The day is not closed.
   */
  @Get('days/:day')
  async day(@Param('day') day: string): Promise<DayRange> {
    if (!isCalendarDay(day)) throw invalidField('day', 'day must be a date, for example 2026-03-01');
    const range = await this.seals.findDay(day);
    if (!range) throw new DomainError('resource.not-found');
    return range;
  }

  /**
   * Reads a seal. A final settlement statement cites a seal: compare the hashes.
   *
   * @throws request.invalid
   * @throws resource.not-found There is no such seal.
   */
  @Get('seals/:sealNumber')
  async seal(@Param('sealNumber') sealNumber: string): Promise<SealView> {
    const seal = await this.seals.findSeal(parseSealNumber('sealNumber', sealNumber));
    if (!seal) throw new DomainError('resource.not-found');
    return seal;
  }

  /**
   * Verifies a page of seals: the seals after number `after`, up to number `until` if it is set.
   *
   * @returns 200 Also when a deviation was found.
   * @throws request.invalid
   */
  @Get('verification')
  async verification(@Query('after') after: unknown = '0', @Query('until') until?: unknown): Promise<VerifiedPage> {
    return this.verifyLedger.verifyPage(
      parseSealNumber('after', after),
      until === undefined ? undefined : parseSealNumber('until', until),
    );
  }
}

function parseSealNumber(field: string, value: unknown): number {
  if (typeof value !== 'string' || !/^\d{1,15}$/.test(value))
    throw invalidField(field, `${field} must be a whole number`);
  return Number(value);
}
