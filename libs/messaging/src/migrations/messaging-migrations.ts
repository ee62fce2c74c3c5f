import { Messaging1763500000001 } from './1763500000001-messaging.js';
import { Replays1763500000002 } from './1763500000002-replays.js';

/** Run before a service's own. */
export const messagingMigrations = [Messaging1763500000001, Replays1763500000002];
