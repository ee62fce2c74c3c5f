export * from './address-guard.js';
export { calledUrlProblem } from './called-url.js';
export { ConnectTimeoutError } from './connection-pool.js';
export * from './guarded-lookup.js';
export * from './http-client.js';
export { networkOf } from './network-of.js';
