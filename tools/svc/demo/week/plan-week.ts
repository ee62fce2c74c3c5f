/** The trade of the demo's roastery: who pays what at which time. Equal for equal times, so two starts on a day show the same. */

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Johannesburg, the zone of new merchants, has no daylight saving time. */
const ZONE_OFFSET_MS = 2 * HOUR_MS;
/** Today and the same weekday a week ago are compared. */
const DAYS_BEFORE_TODAY = 7;
/** People who open the payment page at the same time pay after each other, each within this time. */
const PAUSE_MS = 4 * MINUTE_MS;

export const ROASTERY_SITES = 3;
const ONLINE = 0;
/** Payments of an hour of the day, on a usual day. */
const PAYMENTS_BY_HOUR: Readonly<Record<number, number>> = {
  7: 3,
  8: 5,
  9: 5,
  10: 4,
  11: 2,
  12: 4,
  13: 4,
  14: 2,
  15: 3,
  16: 3,
  17: 2,
  20: 2,
};
/** The shops are closed, so all payments are of the online shop. */
const EVENING = 20;
/** Of a hundred payments. */
const DECLINED_SHARE = 9;
const REFUNDED_SHARE = 5;
const PRICES_CENTS = [3_800, 4_200, 12_345, 14_900, 13_950, 18_900] as const;
const APPROVED_CARDS = ['4242424242424242', '5555555555554444', '4000000000000077', '5200828282828210'] as const;
const DECLINED_CARDS = ['4000000000000002', '4000000000009995', '4000000000000069', '4000000000000127'] as const;

export interface PlannedPayment {
  readonly orderId: string;
  readonly siteIndex: number;
  /** Cents. */
  readonly amount: number;
  readonly cardNumber: string;
  readonly paidAt: Date;
  /** Cents that are given back at the next visit; 0 for most payments. */
  readonly refundAmount: number;
  /** The merchant's server answers every webhook of this payment with an error, until the platform gives up. */
  readonly isWebhookRefused: boolean;
}

/** People who open the payment page at the same time. */
export interface Visit {
  readonly at: Date;
  readonly payments: readonly PlannedPayment[];
}

/** The visits from a week before the local day of `now` until `now`, in the order of time. */
export function planWeek(now: Date): Visit[] {
  const today = startOfLocalDay(now);
  const random = newRandom();
  const visits: Visit[] = [];
  let orderNumber = 4_100;
  for (let day = -DAYS_BEFORE_TODAY; day <= 0; day++)
    for (const [hourText, usual] of Object.entries(PAYMENTS_BY_HOUR)) {
      const hour = Number(hourText);
      const at = new Date(today + day * DAY_MS + hour * HOUR_MS + Math.floor(random() * 30) * MINUTE_MS);
      const count = usual + Math.floor(random() * 3) - 1;
      const payments = Array.from({ length: count }, (_, index) => {
        orderNumber += 1 + Math.floor(random() * 3);
        const paidAt = new Date(at.getTime() + (index + random()) * PAUSE_MS);
        return newPayment(`KCR-${orderNumber}`, hour, paidAt, random);
      });
      visits.push({ at, payments });
    }
  const past = visits.filter(({ payments }) => payments.every(({ paidAt }) => paidAt < now));
  return markRefusedWebhook(past);
}

/** The local midnight before which the week begins: the clock of a new platform is set to it. */
export function startOfWeek(now: Date): Date {
  return new Date(startOfLocalDay(now) - DAYS_BEFORE_TODAY * DAY_MS);
}

function newPayment(orderId: string, hour: number, paidAt: Date, random: () => number): PlannedPayment {
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)]!;
  const amount = pick(PRICES_CENTS) * (1 + Math.floor(random() * 3));
  const siteIndex = hour === EVENING ? ONLINE : Math.floor(random() * ROASTERY_SITES);
  const isDeclined = random() * 100 < DECLINED_SHARE;
  const isRefunded = !isDeclined && random() * 100 < REFUNDED_SHARE;
  const share = random() < 0.5 ? amount : Math.floor(amount / 3);
  return {
    orderId,
    siteIndex,
    amount,
    cardNumber: pick(isDeclined ? DECLINED_CARDS : APPROVED_CARDS),
    paidAt,
    refundAmount: isRefunded ? share : 0,
    isWebhookRefused: false,
  };
}

/** The first payment of the second visit: early enough that all attempts of its webhook are over. */
function markRefusedWebhook(visits: readonly Visit[]): Visit[] {
  return visits.map((visit, index) =>
    index === 1
      ? { ...visit, payments: visit.payments.map((payment, n) => ({ ...payment, isWebhookRefused: n === 0 })) }
      : visit,
  );
}

function startOfLocalDay(now: Date): number {
  const local = now.getTime() + ZONE_OFFSET_MS;
  return local - (local % DAY_MS) - ZONE_OFFSET_MS;
}

/** Numbers from 0 to below 1, always the same: a linear congruential generator (Numerical Recipes). */
function newRandom(): () => number {
  let state = 20_261;
  return () => (state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32) / 2 ** 32;
}
