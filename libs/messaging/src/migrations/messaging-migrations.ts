import { Messaging1763500000001 } from './1763500000001-messaging.js';
import { Replays1763500000002 } from './1763500000002-replays.js';
import { ToldAgain1763500000003 } from './1763500000003-told-again.js';
import { DeferredEvents1763500000004 } from './1763500000004-deferred-events.js';
import { MonthPartitions1763500000005 } from './1763500000005-month-partitions.js';
import { Heartbeats1763500000006 } from './1763500000006-heartbeats.js';
import { PartitionsAttached1763500000007 } from './1763500000007-partitions-attached.js';
import { AppendOnlyByPrivilege1763500000008 } from './1763500000008-append-only-by-privilege.js';
import { HeldTypes1763500000009 } from './1763500000009-held-types.js';

/** The migrations of this library. They run before the migrations of the service. */
export const messagingMigrations = [
  Messaging1763500000001,
  Replays1763500000002,
  ToldAgain1763500000003,
  DeferredEvents1763500000004,
  MonthPartitions1763500000005,
  Heartbeats1763500000006,
  PartitionsAttached1763500000007,
  AppendOnlyByPrivilege1763500000008,
  HeldTypes1763500000009,
];
