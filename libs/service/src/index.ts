export * from './config.js';
export * from './error-filter.js';
export * from './health.controller.js';
export * from './logging.js';
export * from './request-validation.js';
export * from './run.js';
export * from './service.js';
export * from './tls-listener.js';
