import { Get, HttpStatus, Inject, Res } from '@nestjs/common';
import type { Mode } from '@svc/contracts';
import type { FastifyReply } from 'fastify';
import { Allow, CallingPerson, PageController } from '../access/access.guard.js';
import { OPERATOR_PATH } from '../layout/layout.js';
import { redirect, sendPage } from '../layout/page-sender.js';
import { MerchantRepository } from '../merchants/merchant.repository.js';
import type { Viewer } from '../viewer/viewer.js';
import { renderMerchantsPage } from './merchants-page.js';

/**
 * The start page: the merchants at which the person has a role. With one merchant, its page of today, in live mode after its
 * first live payment. Operators of the platform without a merchant get their own start page.
 */
@PageController()
export class HomeController {
  constructor(@Inject(MerchantRepository) private readonly merchants: MerchantRepository) {}

  @Get()
  @Allow('person')
  async show(@CallingPerson() viewer: Viewer, @Res() reply: FastifyReply): Promise<void> {
    const { roles, operatorRole } = viewer.session;
    if (operatorRole !== undefined && roles.length === 0) return redirect(reply, OPERATOR_PATH);
    const merchantIds = [...new Set(roles.map(({ merchantId }) => merchantId))];
    const merchants = await this.merchants.list(merchantIds);
    const [only] = merchants;
    if (only && merchants.length === 1 && operatorRole === undefined) {
      const mode: Mode = (await this.merchants.hasLivePayments(only.merchantId)) ? 'live' : 'test';
      return redirect(reply, `/${only.merchantId}/${mode}`);
    }
    await sendPage(reply, HttpStatus.OK, renderMerchantsPage(viewer, merchants));
  }
}
