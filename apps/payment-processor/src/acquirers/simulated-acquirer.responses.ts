/**
 * Parses the simulated acquirer's responses about refunds and statements. An unexpected response counts as no response.
 */
import { isAmountInCents, isText, MAX_IDENTIFIER_LENGTH } from '@svc/contracts';
import type { RefundOutcome, StatementLine, StatementPage } from './acquirer.js';

const UNKNOWN: RefundOutcome = { kind: 'unknown' };

export function parseRefundOutcome(body: unknown): RefundOutcome {
  const { outcome, acquirerReference } = recordOrEmpty(body);
  if (!isText(acquirerReference, MAX_IDENTIFIER_LENGTH)) return UNKNOWN;
  switch (outcome) {
    case 'succeeded':
    case 'declined':
      return { kind: outcome, acquirerReference };
    case 'pending':
      return { kind: 'pending' };
    default:
      return UNKNOWN;
  }
}

/** Undefined when a line cannot be parsed, because a partial statement would look like a complete statement. */
export function parseStatementPage(body: unknown): StatementPage | undefined {
  const { lines, next } = recordOrEmpty(body);
  if (!Array.isArray(lines)) return undefined;
  const parsedLines = lines.map(parseStatementLine);
  const isComplete = (lines: readonly (StatementLine | undefined)[]): lines is readonly StatementLine[] =>
    !lines.includes(undefined);
  return isComplete(parsedLines)
    ? { lines: parsedLines, next: Number.isSafeInteger(next) ? String(next) : undefined }
    : undefined;
}

const KINDS: ReadonlySet<unknown> = new Set<StatementLine['kind']>(['charge', 'reversal', 'refund']);

function parseStatementLine(body: unknown): StatementLine | undefined {
  const { kind, key, acquirerReference, paymentReference, amount, currency, at } = recordOrEmpty(body);
  const isValid =
    KINDS.has(kind) &&
    [key, acquirerReference, paymentReference, currency, at].every((text) => isText(text, MAX_IDENTIFIER_LENGTH)) &&
    isAmountInCents(amount);
  if (!isValid) return undefined;
  return {
    kind: kind as StatementLine['kind'],
    idempotencyKey: key as string,
    acquirerReference: acquirerReference as string,
    paymentReference: paymentReference as string,
    amount,
    currencyISOCode: currency as string,
    movedUTCDate: at as string,
  };
}

function recordOrEmpty(body: unknown): Record<string, unknown> {
  return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
}
