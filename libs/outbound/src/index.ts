export * from './address-guard.js';
export * from './guarded-connector.js';
export { calledUrlProblem } from './called-url.js';
