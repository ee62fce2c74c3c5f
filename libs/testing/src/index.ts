export * from './column-drift.js';
export * from './http-client.js';
export * from './manual-clock.js';
export * from './plan-of.js';
export * from './private-rabbitmq.js';
export * from './test-database.js';
export * from './test-service.js';
export * from './wait-until.js';
