import type { DeclineCode } from '../../src/acquirers/acquirer.js';
import type { DisputeReportKind } from '../../src/acquirers/dispute-report.js';

export type { DeclineCode };
export type DisputeKind = DisputeReportKind;

/** Every reason with which an issuer can decline. The compiler checks that none is missing. */
export const DECLINE_CODES = Object.keys({
  'card.declined': true,
  'card.insufficient-funds': true,
  'card.expired': true,
  'card.invalid': true,
  'card.incorrect-cvv': true,
  'card.suspected-fraud': true,
  'card.limit-exceeded': true,
  'verification.failed': true,
} satisfies Record<DeclineCode, true>) as DeclineCode[];
