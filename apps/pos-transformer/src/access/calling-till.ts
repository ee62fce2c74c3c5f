import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { invalidField } from '@svc/kernel';
import type { FastifyRequest } from 'fastify';

/**
 * The name of the till in the header x-till, or '' if the header is missing. Tills of one site have separate baskets
 * (T3).
 */
export const CallingTill = createParamDecorator((_data: unknown, context: ExecutionContext): string => {
  const till = context.switchToHttp().getRequest<FastifyRequest>().headers['x-till'];
  return parseTill(till);
});

export function parseTill(till: unknown): string {
  if (till === undefined) return '';
  if (typeof till !== 'string' || !/^[\x20-\x7e]{1,100}$/.test(till) || till.trim() === '')
    throw invalidField('x-till', 'The header x-till must be 1 to 100 printable ASCII characters');
  return till;
}
