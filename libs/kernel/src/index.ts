export * from './clock.js';
export * from './domain-error.js';
export * from './merchant-url.js';
export * from './notification-id.js';
export * from './payment-reference.js';
export * from './uuid.js';
