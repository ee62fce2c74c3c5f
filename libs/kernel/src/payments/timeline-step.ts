import type { TimelineStep } from '@svc/contracts';

type Fact = string | number | null | undefined;

/** Longest value of a detail, so that the answer of an endpoint or a note cannot fill the page. */
const MAX_DETAIL_LENGTH = 500;

/** A step of a timeline. Facts without a value are left out. */
export function describeStep(
  at: Date | string,
  event: string,
  facts: Readonly<Record<string, Fact>> = {},
  extra: Pick<TimelineStep, 'amount' | 'isOpen' | 'requestId'> & { readonly traceId?: string | null | undefined } = {},
): TimelineStep {
  const { traceId, ...rest } = extra;
  return {
    utcDate: new Date(at).toISOString(),
    event,
    details: Object.entries(facts)
      .filter(([, value]) => value !== null && value !== undefined && value !== '')
      .map(([name, value]) => ({ name, value: String(value).slice(0, MAX_DETAIL_LENGTH) })),
    ...rest,
    ...(traceId ? { traceId } : {}),
  };
}

const TRACEPARENT = /^[0-9a-f]{2}-(?<traceId>[0-9a-f]{32})-/;

/** The trace id of a W3C trace context; null for a missing or other text. */
export function findTraceId(traceparent: string | null | undefined): string | null {
  return TRACEPARENT.exec(traceparent ?? '')?.groups?.['traceId'] ?? null;
}
