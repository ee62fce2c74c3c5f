export * from './admin-key.guard.js';
export * from './api-key.js';
export * from './credentials.consumer.js';
export * from './dead-letters.controller.js';
export * from './migrations/1763500000010-credentials.js';
export * from './sealed-key-pair.js';
export * from './site-credentials.js';
