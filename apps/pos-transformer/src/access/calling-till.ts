import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { invalidField } from '@svc/kernel';
import type { FastifyRequest } from 'fastify';

/** The header x-till, which separates the baskets of several tills of one site (T3); empty if it is missing. */
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
