import { CAPTURE_CASES } from './captures.js';
import { CHARGE_CASES } from './charges.js';
import type { ContractCases } from './contract-case.js';
import { DISPUTE_CASES } from './disputes.js';
import { REFUND_CASES } from './refunds.js';
import { REPORT_CASES } from './reports.js';
import { STATEMENT_CASES } from './statements.js';
import { STORED_CARD_CASES } from './stored-cards.js';
import { VERIFICATION_CASES } from './verifications.js';

/** Every case of the contract. An acquirer passes each of them, or its driver says why it cannot have it. */
export const ALL_CASES: ContractCases = {
  ...CHARGE_CASES,
  ...REPORT_CASES,
  ...VERIFICATION_CASES,
  ...CAPTURE_CASES,
  ...REFUND_CASES,
  ...DISPUTE_CASES,
  ...STORED_CARD_CASES,
  ...STATEMENT_CASES,
};
