export * from './dead-letters.controller.js';
export * from './rebuild.controller.js';
