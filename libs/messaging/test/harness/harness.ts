import type { DataSource } from 'typeorm';
import type { ManualClock } from '@svc/testing';
import type { Commands, DeadLetters, EventHandler, EventLog, Relay } from '../../src/index.js';
import type { Gate } from './gate.js';

/**
 * What the contract needs to know of a way to deliver messages: it starts processes of services on real PostgreSQL,
 * stops them in order or kills them, and gives the test a connection of its own to each service's database. Several
 * processes of one name are replicas of one service and share its database.
 */
export interface MessagingHarness {
  readonly clock: ManualClock;
  /** What was logged, by all processes. */
  readonly logged: LoggedLine[];
  /** The test's own connection to a service's migrated database; outlives the service's processes. */
  database(service: string): Promise<DataSource>;
  producer(service: string): Promise<Producer>;
  consumer(service: string, handles: Handles): Promise<ConsumingProcess>;
  /** From now on a relay that has handed a batch over waits at the door before it moves its cursor. */
  holdHandOvers(): Gate;
  /** Kills every connection to the service's database and refuses new ones until the returned function is called. */
  takeDatabaseAway(service: string): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

export interface LoggedLine {
  readonly level: 'info' | 'warn' | 'error';
  readonly message: string;
}

export interface Handles {
  readonly events?: Readonly<Record<string, EventHandler>>;
  readonly commands?: Readonly<Record<string, (payload: unknown) => Promise<unknown>>>;
}

export interface Process {
  /** Finishes what is under way. */
  stop(): Promise<void>;
  /** As kill -9 would: its connections are gone from one moment to the next and nothing is given back. */
  crash(): Promise<void>;
}

export interface Producer extends Process {
  readonly dataSource: DataSource;
  readonly events: EventLog;
  readonly relay: Relay;
  readonly commands: Commands;
}

export interface ConsumingProcess extends Process {
  readonly dataSource: DataSource;
  readonly deadLetters: DeadLetters;
  /** Whether it has been told everything that was said before it came; undefined where its publishers know that. */
  knowsThePast(): Promise<boolean | undefined>;
}
