import type { AlertCase } from './alert-case.js';
import { BOOK_CASES } from './cases/book-cases.js';
import { MESSAGING_CASES } from './cases/messaging-cases.js';
import { PAYMENT_CASES } from './cases/payment-cases.js';
import { PROCESS_CASES } from './cases/process-cases.js';

/** A case for each alert and each objective. */
export const ALERT_CASES: readonly AlertCase[] = [
  ...MESSAGING_CASES,
  ...PROCESS_CASES,
  ...PAYMENT_CASES,
  ...BOOK_CASES,
];
