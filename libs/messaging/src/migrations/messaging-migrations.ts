import { Messaging1763500000001 } from './1763500000001-messaging.js';

/** The migrations of this library. They run before the migrations of the service. */
export const messagingMigrations = [Messaging1763500000001];
