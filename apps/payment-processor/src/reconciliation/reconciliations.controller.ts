import { Body, Controller, Get, HttpCode, Inject, Param, Post, UseGuards } from '@nestjs/common';
import { AdminKeyGuard, Author, type ChangeAuthor } from '@svc/auth';
import { Clock, DomainError, invalidField, isCalendarDay, isUuid } from '@svc/kernel';
import { IsInt, IsOptional, IsString, Max, MaxLength, Min } from 'class-validator';
import { formatUTCDay } from '../ledger/day.js';
import { ReconciliationRepository, type RunSummary, type RunView } from './reconciliation.repository.js';
import { ReconciliationJob } from './reconciliation-job.js';

export class RequestReconciliationRequest {
  /** UTC, `2026-11-22`. Default: today. */
  @IsOptional()
  @IsString()
  @MaxLength(10)
  day?: string;

  /** Default: all merchants. */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(Number.MAX_SAFE_INTEGER)
  merchantId?: number;
}

/** Compares all books of a day, for administrators. Needs `x-admin-key`. */
@Controller('admin/v1/reconciliations')
@UseGuards(AdminKeyGuard)
export class ReconciliationsController {
  constructor(
    @Inject(ReconciliationRepository) private readonly runs: ReconciliationRepository,
    @Inject(ReconciliationJob) private readonly job: ReconciliationJob,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /**
   * Compares all books of a day (docs/reconciliation.md).
   *
   * @returns 202 The reconciliation was requested. It runs after earlier requests.
   */
  @Post()
  @HttpCode(202)
  async request(
    @Author() author: ChangeAuthor,
    @Body() { day, merchantId }: RequestReconciliationRequest,
  ): Promise<{ runId: string }> {
    const today = formatUTCDay(this.clock.now());
    const requested = day ?? today;
    if (!isCalendarDay(requested) || requested > today)
      throw invalidField('day', 'day must be a day until today, for example 2026-11-22');
    return { runId: await this.job.request(author, { day: requested, merchantId }) };
  }

  /** Lists the newest 100 reconciliations. */
  @Get()
  async list(): Promise<{ reconciliations: readonly RunSummary[] }> {
    return { reconciliations: await this.runs.listNewest() };
  }

  /**
   * Reads a reconciliation with its differences.
   *
   * @throws resource.not-found
   */
  @Get(':runId')
  async get(@Param('runId') runId: string): Promise<RunView> {
    const run = isUuid(runId) ? await this.runs.find(runId) : undefined;
    if (!run) throw new DomainError('resource.not-found', { message: 'There is no such reconciliation.' });
    return run;
  }
}
