export type { ChargeRecord, RefundRecord } from './records.js';
export { type RunningAcquirer, startSimulatedAcquirer } from './simulated-acquirer.js';
export type { StatementLine } from './statement.js';
