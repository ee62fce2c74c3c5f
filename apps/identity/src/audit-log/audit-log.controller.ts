import { Controller, Get, Inject, Query, UseGuards } from '@nestjs/common';
import { AdminKeyGuard } from '@svc/auth';
import { invalidField } from '@svc/kernel';
import { type AuditEntry, AuditLog } from './audit-log.js';

/** The log of all changes by administrators (A10). Requires `x-admin-key`. */
@Controller('admin/v1/audit-log')
@UseGuards(AdminKeyGuard)
export class AuditLogController {
  constructor(@Inject(AuditLog) private readonly auditLog: AuditLog) {}

  /**
   * Reads the audit log in pages of 100 entries, the oldest first. `after` is the `nextAfter` of the previous page, or
   * 0 for the first page. To read newer entries later, store the `nextAfter` of the last page. With `before`: the newest
   * entries with a lower `entryId`, the newest first.
   *
   * @throws request.invalid
   */
  @Get()
  async read(
    @Query('after') after: unknown = '0',
    @Query('before') before?: unknown,
  ): Promise<{ entries: AuditEntry[]; nextAfter: number }> {
    if (before !== undefined) {
      if (typeof before !== 'string' || !/^\d{1,15}$/.test(before))
        throw invalidField('before', 'before must be a whole number');
      const entries = await this.auditLog.readNewest(Number(before));
      return { entries, nextAfter: entries[0]?.entryId ?? 0 };
    }
    if (typeof after !== 'string' || !/^\d{1,15}$/.test(after))
      throw invalidField('after', 'after must be a whole number');
    const entries = await this.auditLog.read(Number(after));
    return { entries, nextAfter: entries.at(-1)?.entryId ?? Number(after) };
  }
}
