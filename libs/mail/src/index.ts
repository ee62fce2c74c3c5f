export * from './mail.js';
export * from './mail-config.js';
export * from './mailer.js';
