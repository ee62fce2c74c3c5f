/** How the page is answered: its headers, and what is read of the request. */
import { HttpStatus } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { PageAssets, PayPageModel } from '../page-views/pay-page-model.js';
import { PAY_PAGE_CONTENT_SECURITY_POLICY, renderPayPage } from '../page-views/render-pay-page.js';
import type { Payer } from './show-page.js';

export function payerOf(request: FastifyRequest, card: unknown): Payer {
  return { locale: localeOf(request.headers['accept-language']), wantsAnotherCard: card === 'another' };
}

export async function sendPage(reply: FastifyReply, model: PayPageModel, assets: PageAssets): Promise<void> {
  await reply
    .status(model.state === 'not-found' ? HttpStatus.NOT_FOUND : HttpStatus.OK)
    .headers({
      'content-security-policy': PAY_PAGE_CONTENT_SECURITY_POLICY,
      'cache-control': 'no-store',
      // The merchant learns where the payer comes from, but not which session: that is in the query.
      'referrer-policy': 'strict-origin',
    })
    .type('text/html; charset=utf-8')
    .send(renderPayPage(model, assets));
}

function localeOf(acceptLanguage: string | undefined): string {
  return /^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*/.exec(acceptLanguage ?? '')?.[0] ?? 'en-ZA';
}
