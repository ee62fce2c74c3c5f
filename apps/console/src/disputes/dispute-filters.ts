import { isNumericId, isUuid } from '@svc/kernel';
import { formatPosition, parsePosition } from '../layout/page-position.js';
import type { DisputePosition } from './list-disputes.query.js';

/** The choice of the person, as the address of the page contains it. An invalid value counts as none. */
export interface DisputeChoice {
  readonly state: 'open' | 'closed';
  readonly siteId: number | undefined;
  readonly after: DisputePosition | undefined;
}

export function readDisputeChoice(query: Readonly<Record<string, unknown>>): DisputeChoice {
  const { state, site, after } = query;
  return {
    state: state === 'closed' ? 'closed' : 'open',
    siteId: isNumericId(site) ? Number(site) : undefined,
    after: readPosition(after),
  };
}

/** The query of a page with this choice. */
export function formatDisputeChoice({ state, siteId, after }: DisputeChoice): string {
  const query = new URLSearchParams({
    ...(state === 'open' ? {} : { state }),
    ...(siteId === undefined ? {} : { site: String(siteId) }),
    ...(after === undefined ? {} : { after: formatPosition({ time: after.time, id: after.disputeReference }) }),
  }).toString();
  return query === '' ? '' : `?${query}`;
}

function readPosition(text: unknown): DisputePosition | undefined {
  const position = parsePosition(text);
  return position && isUuid(position.id) ? { time: position.time, disputeReference: position.id } : undefined;
}
