import { StreamableFile } from '@nestjs/common';
import type { SettlementStatement } from '@svc/contracts';
import { negotiateMediaType } from '@svc/service';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SettlementOwner } from './settlement.repository.ts';
import type { SettlementStatements } from './settlement-statements.ts';

const MEDIA_TYPES = ['application/json', 'text/csv'] as const;

/** Responds with the statement as JSON, or with its movements as CSV, according to the header `Accept`. */
export async function statementResponse(
  statements: SettlementStatements,
  { owner, day }: { readonly owner: SettlementOwner; readonly day: unknown },
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<SettlementStatement | StreamableFile> {
  const mediaType = negotiateMediaType(request, MEDIA_TYPES);
  reply.header('vary', 'accept').header('cache-control', 'no-store');
  if (mediaType === 'application/json') return statements.find(owner, day);
  const { csv, fileName } = await statements.export(owner, day);
  return new StreamableFile(csv, {
    type: 'text/csv; charset=utf-8; header=present',
    disposition: `attachment; filename="${fileName}"`,
  });
}
