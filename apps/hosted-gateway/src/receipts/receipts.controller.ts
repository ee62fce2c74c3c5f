import { Controller, HttpStatus, Inject, Ip, Post, Req, Res, UseGuards } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { DomainError } from '@svc/kernel';
import { FormBody, readFormBodies } from '@svc/service';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { HostedGatewayConfig } from '../config.js';
import { readPayer } from '../pay/page/send-page.js';
import { PageAddress, PaymentsRateLimitGuard, STATIC_CODE_PAGE } from '../pay/payer-requests.js';
import { SameOriginGuard } from '../pay/same-origin.guard.js';
import { buildPageUrl, type PayerAddress } from '../sessions/payer-address.js';
import { SendReceipt } from './send-receipt.js';

/** As other bodies, so that a form for another route is refused there and not before. */
const MAX_FORM_BYTES = 256 * 1024;

/** Sends receipts by e-mail, from the form of the page. The browser then loads the page again, which shows the result. */
@Controller()
export class ReceiptsController {
  constructor(
    @Inject(SendReceipt) private readonly sendReceipt: SendReceipt,
    @Inject(HostedGatewayConfig) private readonly config: HostedGatewayConfig,
    @Inject(HttpAdapterHost) { httpAdapter }: HttpAdapterHost,
  ) {
    readFormBodies(httpAdapter.getInstance<FastifyInstance>(), MAX_FORM_BYTES);
  }

  @Post(['pay/:sessionId/receipts', 'c/:code/receipts', `${STATIC_CODE_PAGE}/receipts`])
  @UseGuards(SameOriginGuard, PaymentsRateLimitGuard)
  async send(
    @PageAddress() address: PayerAddress,
    @Ip() ip: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { body } = request;
    if (!(body instanceof FormBody)) throw new DomainError('request.unsupported-media-type');
    const payer = readPayer(request);
    const result = await this.sendReceipt.execute(address, payer, ip, body.fields['email'] ?? '');
    const page = new URL(buildPageUrl(address, this.config, payer.chosen));
    page.searchParams.set('receipt', result);
    await reply.header('cache-control', 'no-store').redirect(`${page.pathname}${page.search}`, HttpStatus.SEE_OTHER);
  }
}
