/**
 * For a program with neither PostgreSQL nor a broker. Not the package's own entry: that loads TypeORM, pg and amqplib, a third of
 * the memory of such a program.
 */
export * from './config-error.js';
export * from './error-filter.js';
export * from './event-stream.js';
export * from './logging.js';
export * from './nest-app.js';
export * from './readiness.js';
export * from './request-validation.js';
export { runUntilStopped } from './run-until-stopped.js';
export * from './setting-rules.js';
export * from './standalone.js';
