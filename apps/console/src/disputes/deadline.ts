import { addDays } from '@svc/kernel';

/** Days that are counted one by one. A deadline of a bank is at most some weeks away. */
const MAX_DAYS = 366;

/** The meaning of a dispute's deadline now. */
export type Deadline =
  /** No answer is possible or necessary. */
  | { readonly kind: 'none' }
  | { readonly kind: 'overdue' }
  /** `daysLeft`: midnights of the merchant until the deadline; 0 if it is today. */
  | { readonly kind: 'due'; readonly daysLeft: number };

/** @param respondByUTCDate ISO 8601 UTC; null if there is no deadline */
export function describeDeadline(
  respondByUTCDate: string | null,
  now: Date,
  clock: { dayOf(time: Date): string },
): Deadline {
  if (respondByUTCDate === null) return { kind: 'none' };
  const deadline = new Date(respondByUTCDate);
  if (deadline <= now) return { kind: 'overdue' };
  const last = clock.dayOf(deadline);
  let daysLeft = 0;
  for (let day = clock.dayOf(now); day < last && daysLeft < MAX_DAYS; day = addDays(day)) daysLeft++;
  return { kind: 'due', daysLeft };
}
