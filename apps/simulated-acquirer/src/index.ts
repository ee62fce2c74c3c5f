export { type RunningAdyenEmulator, startAdyenEmulator } from './adyen/adyen-emulator.js';
export { serveCodeProvider } from './code-provider/simulated-code-provider.js';
export type { ChargeRecord, RefundRecord } from './records.js';
export { type RunningAcquirer, startSimulatedAcquirer } from './simulated-acquirer.js';
export type { StatementLine } from './statement.js';
