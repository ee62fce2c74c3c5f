import { Controller, Get, Inject, Query, UseGuards } from '@nestjs/common';
import { AdminKeyGuard } from '@svc/auth';
import { invalidField, parsePaymentReference } from '@svc/kernel';
import { AdminRefundsQuery, type AdminRefundView } from './admin-refunds.query.js';

/**
 * Refunds of all merchants, for administrators. Needs `x-admin-key`.
 *
 * @group Refunds
 */
@Controller('admin/v1/refunds')
@UseGuards(AdminKeyGuard)
export class AdminRefundsController {
  constructor(@Inject(AdminRefundsQuery) private readonly refunds: AdminRefundsQuery) {}

  /**
   * Lists the newest 100 refunds. With `svcId`: the refunds of one payment. With `state=pending`: the refunds that wait
   * for the acquirer, oldest first.
   *
   * @throws request.invalid
   */
  @Get()
  async list(
    @Query('svcId') svcId: unknown,
    @Query('state') state: unknown,
  ): Promise<{ refunds: readonly AdminRefundView[] }> {
    if (state !== undefined && state !== 'pending') throw invalidField('state', 'state must be pending');
    if (svcId === undefined) return { refunds: await this.refunds.list(state === 'pending' ? 'pending' : 'newest') };
    if (typeof svcId !== 'string' || state !== undefined)
      throw invalidField('svcId', 'svcId must be given once, and without state');
    const paymentReference = parsePaymentReference(svcId);
    return { refunds: paymentReference === undefined ? [] : await this.refunds.list({ paymentReference }) };
  }
}
