import { Controller, Get, Inject, Query, UseGuards } from '@nestjs/common';
import { AdminKeyGuard } from '@svc/auth';
import { parsePaymentReference } from '@svc/kernel';
import { parseSvcId } from '../svc-id.js';
import { AdminDisputesQuery, type AdminDisputeView, type DisputeIncidentView } from './admin-disputes.query.js';

/**
 * Disputes of all merchants, for administrators. Needs `x-admin-key`.
 *
 * @group Disputes
 */
@Controller('admin/v1/disputes')
@UseGuards(AdminKeyGuard)
export class AdminDisputesController {
  constructor(@Inject(AdminDisputesQuery) private readonly disputes: AdminDisputesQuery) {}

  /**
   * Lists at most 100 disputes: open disputes first, the nearest deadline first, and then the newest others. With
   * `svcId`: the disputes of one payment, newest first.
   *
   * @throws request.invalid
   */
  @Get()
  async list(@Query('svcId') svcId: unknown): Promise<{ disputes: readonly AdminDisputeView[] }> {
    if (svcId === undefined) return { disputes: await this.disputes.list() };
    const paymentReference = parsePaymentReference(parseSvcId(svcId));
    return { disputes: paymentReference === undefined ? [] : await this.disputes.listOfPayment(paymentReference) };
  }

  /** Lists the newest 100 impossible reports of acquirers about disputes. */
  @Get('incidents')
  async listIncidents(): Promise<{ incidents: readonly DisputeIncidentView[] }> {
    return { incidents: await this.disputes.listIncidents() };
  }
}
