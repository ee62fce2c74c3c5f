/**
 * Compares the POSTs that a merchant's server received with the attempts that webhook-dispatcher recorded.
 *
 * The number of POSTs for a notification depends on the speed of the machine. The dispatcher aborts a POST without an
 * answer after 10 s (E1) and sends the notification again (E5), and a broker may need more than 10 s to start. At any
 * speed, each POST has one recorded attempt, and another POST follows only a POST that the dispatcher aborted. There is
 * one exception: a dispatcher that is interrupted between a POST and its record repeats the POST without a record (E8),
 * at most once for each interruption.
 */
export interface ReceivedPost {
  readonly webhookId: string;
  /** From the signature, in whole seconds. */
  readonly sentAt: Date;
  /** Time at which the server answered, or the sender closed the connection; undefined while the sender waits. */
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

/** A time in which the sender could not record its POSTs, because it was killed, was stopped or had no database. */
export interface Interruption {
  readonly from: Date;
  readonly to: Date;
  /** Time that a stopping sender gives its POSTs to finish; 0 when it was killed. */
  readonly drainMs: number;
}

/**
 * Duration of a worker's lease of a notification: only this worker sends the notification, and only within this time.
 */
export const DELIVERY_LEASE_MS = 30_000;
/** SVC_DELIVERY_TIMEOUT_MS of webhook-dispatcher (E1). */
const TIMEOUT_MS = 10_000;
/** Clocks of two processes on a busy machine may differ by this much. */
const TOLERANCE_MS = 1_000;
/** A timer of Node.js may end a moment early. */
const TIMER_TOLERANCE_MS = 50;

/** Returns the faults of the sender, a sentence for each. The list is empty when every POST was justified. */
export function findUnjustifiedPosts(
  posts: readonly ReceivedPost[],
  attempts: readonly RecordedAttempt[],
  interruptions: readonly Interruption[] = [],
): string[] {
  const webhookIds = new Set([...posts, ...attempts].map(({ webhookId }) => webhookId));
  return [...webhookIds].flatMap((webhookId) => {
    const ofNotification = (one: { webhookId: string }): boolean => one.webhookId === webhookId;
    const found = findFaults(posts.filter(ofNotification), attempts.filter(ofNotification), [...interruptions]);
    return found.map((fault) => `${webhookId}: ${fault}`);
  });
}

function findFaults(
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
      // One interruption explains only one POST, because another worker sends only after the lease of the dead worker.
      const [interruption] = takeFirst(interruptions, (one) => explains(one, post));
      if (interruption === undefined) faults.push(`${number} is not recorded`);
      else if (isLast) faults.push(`${number} is not recorded, and no other followed`);
    } else faults.push(...findRecordedFaults(post, attempt, isLast).map((fault) => `${number} ${fault}`));
  }
  return [...faults, ...remaining.map(({ startedAt }) => `no POST for the attempt of ${startedAt.toISOString()}`)];
}

function findRecordedFaults(
  { acknowledged, endedAt }: ReceivedPost,
  { startedAt, durationMs, outcome, errorClass }: RecordedAttempt,
  isLast: boolean,
): string[] {
  if (outcome === 'acknowledged') {
    if (!acknowledged) return ['is recorded as acknowledged, but was not'];
    return isLast ? [] : ['was acknowledged, and another followed'];
  }
  const wasAborted = errorClass === 'timeout' && durationMs >= TIMEOUT_MS - TIMER_TOLERANCE_MS;
  if (!wasAborted) return [`ended as ${errorClass ?? outcome} after ${durationMs} ms`];
  const answeredAfterMs = acknowledged && endedAt ? endedAt.getTime() - startedAt.getTime() : Infinity;
  if (answeredAfterMs < TIMEOUT_MS - TOLERANCE_MS)
    return [`was acknowledged after ${answeredAfterMs} ms, but recorded as aborted`];
  return isLast ? ['was aborted, and no other followed'] : [];
}

/** Whether the interruption can be the reason why the POST is not recorded. */
function explains({ from, to, drainMs }: Interruption, { sentAt, endedAt }: ReceivedPost): boolean {
  const isInTime = sentAt.getTime() > from.getTime() - DELIVERY_LEASE_MS && sentAt <= to;
  if (drainMs === 0) return isInTime;
  return isInTime && (endedAt === undefined || endedAt.getTime() - sentAt.getTime() >= drainMs - TOLERANCE_MS);
}

function inSeconds(time: Date): number {
  return Math.floor(time.getTime() / 1_000);
}

/** Removes the first match from the list and returns it. */
function takeFirst<T>(list: T[], isWanted: (one: T) => boolean): T[] {
  const index = list.findIndex(isWanted);
  return index < 0 ? [] : list.splice(index, 1);
}
