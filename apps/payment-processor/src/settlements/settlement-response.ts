import { StreamableFile } from '@nestjs/common';
import type { SettlementStatement } from '@svc/contracts';
import { invalidField } from '@svc/kernel';
import { negotiateMediaType } from '@svc/service';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SettlementOwner } from './settlement.repository.ts';
import type { RequestedDays } from './settlement-range.ts';
import type { SettlementStatements } from './settlement-statements.ts';

const MEDIA_TYPES = ['application/json', 'text/csv'] as const;

/** The parameters of a request for a statement. Not validated yet, except the owner. */
export interface StatementRequest {
  readonly owner: SettlementOwner;
  readonly days: RequestedDays;
  readonly siteId: unknown;
  readonly bom: unknown;
}

/** Responds with the statement as JSON, or with its movements as CSV, according to the header `Accept`. */
export async function statementResponse(
  statements: SettlementStatements,
  { owner: caller, days, siteId, bom }: StatementRequest,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<SettlementStatement | StreamableFile> {
  const mediaType = negotiateMediaType(request, MEDIA_TYPES);
  reply.header('vary', 'accept').header('cache-control', 'no-store');
  if (bom !== undefined && bom !== '1') throw invalidField('bom', 'bom must be 1, given once');
  const owner = await statements.restrictToSite(caller, siteId);
  if (mediaType === 'application/json') return statements.find(owner, days);
  const { csv, fileName } = await statements.export(owner, days, { hasByteOrderMark: bom === '1' });
  return new StreamableFile(csv, {
    type: 'text/csv; charset=utf-8; header=present',
    disposition: `attachment; filename="${fileName}"`,
  });
}
