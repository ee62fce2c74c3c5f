/**
 * Compares the POSTs that a merchant's server received with the attempts that webhook-dispatcher recorded.
 *
 * How many POSTs a notification takes depends on the speed of the machine: the dispatcher gives up a POST that has no
 * answer after 10 s (E1) and sends it again (E5), and a broker may need longer than that to start. At any speed, each
 * POST is one recorded attempt, and another POST follows only one that the dispatcher gave up. Only a dispatcher that was
 * interrupted between the POST and the record repeats without a record (E8), once for each interruption.
 */
export interface ReceivedPost {
  readonly webhookId: string;
  /** As the sender signed it: whole seconds. */
  readonly sentAt: Date;
  /** When the server answered, or when the sender closed the connection; undefined while it waits. */
  readonly endedAt: Date | undefined;
  readonly acknowledged: boolean;
}

export interface RecordedAttempt {
  readonly webhookId: string;
  readonly startedAt: Date;
  readonly durationMs: number;
  readonly outcome: 'acknowledged' | 'refused' | 'unanswered';
  readonly errorClass: string | null;
}

/** The sender could not record what it had on the wire: it was killed, or stopped, or had no database. */
export interface Interruption {
  readonly from: Date;
  readonly to: Date;
  /** A sender that is stopped lets a POST finish for so long; 0 when it was killed. */
  readonly drainMs: number;
}

/** A worker holds the lease of a notification for so long: it sends within that time, and it alone. */
export const DELIVERY_LEASE_MS = 30_000;
/** SVC_DELIVERY_TIMEOUT_MS of webhook-dispatcher (E1). */
const TIMEOUT_MS = 10_000;
/** Two processes on a busy machine agree no better about when something happened. */
const TOLERANCE_MS = 1_000;
/** A timer of Node.js may end a moment early. */
const TIMER_TOLERANCE_MS = 50;

/** What the sender did wrong, a sentence for each; nothing when every POST had its reason. */
export function findUnjustifiedPosts(
  posts: readonly ReceivedPost[],
  attempts: readonly RecordedAttempt[],
  interruptions: readonly Interruption[] = [],
): string[] {
  const webhookIds = new Set([...posts, ...attempts].map(({ webhookId }) => webhookId));
  return [...webhookIds].flatMap((webhookId) => {
    const ofNotification = (one: { webhookId: string }): boolean => one.webhookId === webhookId;
    const found = judge(posts.filter(ofNotification), attempts.filter(ofNotification), [...interruptions]);
    return found.map((fault) => `${webhookId}: ${fault}`);
  });
}

function judge(
  posts: readonly ReceivedPost[],
  attempts: readonly RecordedAttempt[],
  interruptions: Interruption[],
): string[] {
  const faults: string[] = [];
  const remaining = [...attempts];
  const inOrder = posts.toSorted((a, b) => a.sentAt.getTime() - b.sentAt.getTime());
  for (const [index, post] of inOrder.entries()) {
    const number = `POST ${index + 1} of ${inOrder.length}`;
    const isLast = index === inOrder.length - 1;
    const [attempt] = takeFirst(remaining, ({ startedAt }) => inSeconds(startedAt) === inSeconds(post.sentAt));
    if (attempt === undefined) {
      // One interruption explains one POST: a dead worker's lease is over before another worker sends.
      const [interruption] = takeFirst(interruptions, (one) => explains(one, post));
      if (interruption === undefined) faults.push(`${number} is not recorded`);
      else if (isLast) faults.push(`${number} is not recorded, and no other followed`);
    } else faults.push(...judgeRecorded(post, attempt, isLast).map((fault) => `${number} ${fault}`));
  }
  return [...faults, ...remaining.map(({ startedAt }) => `no POST for the attempt of ${startedAt.toISOString()}`)];
}

function judgeRecorded(
  { acknowledged, endedAt }: ReceivedPost,
  { startedAt, durationMs, outcome, errorClass }: RecordedAttempt,
  isLast: boolean,
): string[] {
  if (outcome === 'acknowledged') {
    if (!acknowledged) return ['is recorded as acknowledged, and was not'];
    return isLast ? [] : ['was acknowledged, and another followed'];
  }
  const wasGivenUp = errorClass === 'timeout' && durationMs >= TIMEOUT_MS - TIMER_TOLERANCE_MS;
  if (!wasGivenUp) return [`ended as ${errorClass ?? outcome} after ${durationMs} ms`];
  const answeredAfterMs = acknowledged && endedAt ? endedAt.getTime() - startedAt.getTime() : Infinity;
  if (answeredAfterMs < TIMEOUT_MS - TOLERANCE_MS)
    return [`was acknowledged after ${answeredAfterMs} ms, and given up all the same`];
  return isLast ? ['was given up, and no other followed'] : [];
}

function explains({ from, to, drainMs }: Interruption, { sentAt, endedAt }: ReceivedPost): boolean {
  const isInTime = sentAt.getTime() > from.getTime() - DELIVERY_LEASE_MS && sentAt <= to;
  if (drainMs === 0) return isInTime;
  return isInTime && (endedAt === undefined || endedAt.getTime() - sentAt.getTime() >= drainMs - TOLERANCE_MS);
}

function inSeconds(time: Date): number {
  return Math.floor(time.getTime() / 1_000);
}

/** Removes it. */
function takeFirst<T>(list: T[], isWanted: (one: T) => boolean): T[] {
  const index = list.findIndex(isWanted);
  return index < 0 ? [] : list.splice(index, 1);
}
