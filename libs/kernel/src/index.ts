export * from './clock.js';
export * from './code-parameter.js';
export * from './domain-error.js';
export * from './merchant-url.js';
export * from './notification-id.js';
export * from './own-code.js';
export * from './payment-reference.js';
export * from './uuid.js';
