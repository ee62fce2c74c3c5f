/**
 * Entry of this package for programs without PostgreSQL and without a broker. The main entry would also load TypeORM,
 * pg and amqplib, which would need a third of the memory of such a program.
 */
export * from './configuration/config-error.js';
export * from './http/error-filter.js';
export * from './http/event-stream.js';
export * from './logging.js';
export * from './nest-app.js';
export * from './health/readiness.js';
export * from './http/request-bodies/request-validation.js';
export { runUntilStopped } from './run-until-stopped.js';
export * from './configuration/setting-rules.js';
export * from './standalone.js';
