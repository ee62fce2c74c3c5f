import { Body, Controller, Get, HttpCode, Inject, Post, UseGuards } from '@nestjs/common';
import { AdminKeyGuard, Author, type ChangeAuthor } from '@svc/auth';
import { IsBoolean, IsOptional } from 'class-validator';
import { OpenAfterRestore } from './open-after-restore.js';
import { RepairAfterRestore, type RepairReport } from './repair-after-restore.js';
import type { RestoreStatus } from './restore-status.query.js';

export class RepairAfterRestoreRequest {
  /** Also reverse charges that were reported to the merchant as successes, and that cannot be recorded. Default: false. */
  @IsOptional()
  @IsBoolean()
  reversesReported?: boolean;
}

export class OpenAfterRestoreRequest {
  /** Open although movements are unresolved or books differ: an operator resolves them later. Default: false. */
  @IsOptional()
  @IsBoolean()
  acceptsDifferences?: boolean;
}

/**
 * The steps after a restore of payment-processor's database (docs/backup.md), for administrators. Needs `x-admin-key`.
 *
 * @group Restore
 */
@Controller('admin/v1/restores')
@UseGuards(AdminKeyGuard)
export class RestoresController {
  constructor(
    @Inject(RepairAfterRestore) private readonly repairAfterRestore: RepairAfterRestore,
    @Inject(OpenAfterRestore) private readonly openAfterRestore: OpenAfterRestore,
  ) {}

  /** Shows the newest restore of the database, or null. */
  @Get()
  async show(): Promise<{ restore: RestoreStatus | null }> {
    return { restore: (await this.openAfterRestore.findStatus()) ?? null };
  }

  /**
   * Compares the restored database with the bank. Records or reverses the charges, and records the refunds, that the
   * restore has forgotten. A repeated request continues.
   *
   * @throws resource.not-found
   * @throws service.not-ready
   * @throws acquirer.unavailable
   */
  @Post('repair')
  @HttpCode(200)
  repair(@Author() author: ChangeAuthor, @Body() body: RepairAfterRestoreRequest): Promise<RepairReport> {
    return this.repairAfterRestore.execute(author, body.reversesReported ?? false);
  }

  /**
   * Opens the platform for payments. Refused until the bank was compared and the books agree.
   *
   * @throws resource.not-found
   * @throws resource.conflict
   */
  @Post('open')
  @HttpCode(200)
  async open(
    @Author() author: ChangeAuthor,
    @Body() body: OpenAfterRestoreRequest,
  ): Promise<{ restore: RestoreStatus | null }> {
    await this.openAfterRestore.execute(author, body.acceptsDifferences ?? false);
    return this.show();
  }
}
