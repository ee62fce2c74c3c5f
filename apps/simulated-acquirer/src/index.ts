export type { ChargeRecord } from './charge-store.js';
export { type RunningAcquirer, startSimulatedAcquirer } from './simulated-acquirer.js';
