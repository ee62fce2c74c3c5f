export type { ChargeRecord, RefundRecord } from './charge-store.js';
export { type RunningAcquirer, startSimulatedAcquirer } from './simulated-acquirer.js';
export type { StatementLine } from './statement.js';
