import { DELIVERY_STATES, type DeliveryState, type ListDeliveries } from '@svc/contracts';
import { addDays, isCalendarDay, isUuid } from '@svc/kernel';
import type { MerchantViewer } from '../../viewer/viewer.js';

/** The choice of the person, as the address of the page contains it. An invalid value counts as none. */
export interface DeliveryChoice {
  readonly siteId: number;
  readonly state: DeliveryState | undefined;
  /** A day of the merchant. */
  readonly day: string | undefined;
  /** Id of the last delivery of the page before. */
  readonly after: string | undefined;
}

export function readDeliveryChoice(query: Readonly<Record<string, unknown>>, siteId: number): DeliveryChoice {
  const { state, day, after } = query;
  return {
    siteId,
    state: DELIVERY_STATES.find((known) => known === state),
    day: typeof day === 'string' && isCalendarDay(day) ? day : undefined,
    after: isUuid(after) ? after : undefined,
  };
}

/** The query of a page with this choice, with changes. */
export function formatDeliveryChoice(choice: DeliveryChoice, changes: Partial<DeliveryChoice> = {}): string {
  const { siteId, ...rest } = { ...choice, ...changes };
  const given = Object.entries({ site: String(siteId), ...rest }).filter((entry): entry is [string, string] =>
    Boolean(entry[1]),
  );
  return `?${new URLSearchParams(given).toString()}`;
}

export function toDeliveryRequest({ merchant, mode, clock }: MerchantViewer, choice: DeliveryChoice): ListDeliveries {
  const { siteId, state, day, after } = choice;
  return {
    owner: { merchantId: merchant.merchantId, siteId, mode },
    ...(state === undefined ? {} : { state }),
    ...(after === undefined ? {} : { after }),
    ...(day === undefined
      ? {}
      : { from: clock.startOf(day).toISOString(), until: clock.startOf(addDays(day)).toISOString() }),
  };
}
