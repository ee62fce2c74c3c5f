export * from './administration-controllers.js';
export * from './dead-letters.controller.js';
export * from './rebuild.controller.js';
export type { ServiceStatus } from './status.controller.js';
