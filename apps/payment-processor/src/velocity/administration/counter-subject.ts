import type { Mode } from '@svc/contracts';
import { invalidField, isNumericId, isUuid, parsePaymentReference } from '@svc/kernel';

/** Whose counter an administrator means. A card is named by a payment, because its number is not known here. */
export type CounterSubject =
  | { readonly kind: 'site'; readonly mode: Mode; readonly siteId: number }
  | { readonly kind: 'address'; readonly mode: Mode; readonly address: string }
  | { readonly kind: 'card'; readonly paymentReference: string }
  | {
      readonly kind: 'range';
      readonly mode: Mode;
      /** The first eight digits of card numbers. */
      readonly range: string;
      /** A site's id, or the id of a partner's organisation. */
      readonly owner: { readonly siteId: number } | { readonly organisationId: string };
    };

/** Untrusted fields of a request. */
export interface SubjectFields {
  readonly mode?: unknown;
  readonly siteId?: unknown;
  readonly organisationId?: unknown;
  readonly address?: unknown;
  readonly svcId?: unknown;
  readonly range?: unknown;
}

const RANGE = /^\d{8}$/;
const MAX_ADDRESS_LENGTH = 45;

/** Throws `request.invalid` unless the fields name exactly one subject. */
export function parseSubject({
  mode = 'live',
  siteId,
  organisationId,
  address,
  svcId,
  range,
}: SubjectFields): CounterSubject {
  if (mode !== 'test' && mode !== 'live') throw invalidField('mode', 'mode must be test or live');
  if (svcId !== undefined) {
    const paymentReference = typeof svcId === 'string' ? parsePaymentReference(svcId) : undefined;
    if (paymentReference === undefined) throw invalidField('svcId', 'svcId must be the svcId of a payment');
    return { kind: 'card', paymentReference };
  }
  if (address !== undefined) {
    if (typeof address !== 'string' || address.length > MAX_ADDRESS_LENGTH)
      throw invalidField('address', 'address must be an IP address');
    return { kind: 'address', mode, address };
  }
  if (range !== undefined) {
    if (typeof range !== 'string' || !RANGE.test(range))
      throw invalidField('range', 'range must be the first eight digits of the card numbers');
    if (isUuid(organisationId)) return { kind: 'range', mode, range, owner: { organisationId } };
    return { kind: 'range', mode, range, owner: { siteId: parseSiteId(siteId) } };
  }
  return { kind: 'site', mode, siteId: parseSiteId(siteId) };
}

function parseSiteId(siteId: unknown): number {
  if (!isNumericId(String(siteId))) throw invalidField('siteId', 'siteId must be a number');
  return Number(siteId);
}
