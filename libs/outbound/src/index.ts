export * from './address-guard.js';
export * from './guarded-connector.js';
