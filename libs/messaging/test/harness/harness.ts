import type { ManualClock } from '@svc/testing';
import type { DataSource } from 'typeorm';
import type { Commands, DeadLetters, EventHandler, EventLog, Relay } from '../../src/index.js';
import type { Gate } from './gate.js';

/**
 * Runs the contract on one broker: starts, stops and kills processes of services on real PostgreSQL, and gives the test a
 * connection of its own to each service's database. Several processes of one name are replicas of one service and share
 * its database.
 */
export interface MessagingHarness {
  readonly clock: ManualClock;
  /** The log lines of all processes. */
  readonly logged: LoggedLine[];
  /** The test's own connection to a service's migrated database; outlives the service's processes. */
  database(service: string): Promise<DataSource>;
  producer(service: string): Promise<Producer>;
  consumer(service: string, handles: ProcessHandlers): Promise<ConsumingProcess>;
  /** From now on a relay that has handed over a batch waits at the door before it moves its cursor. */
  holdHandOvers(): Gate;
  /** Kills every connection to the service's database and rejects new ones until the returned function is called. */
  makeDatabaseUnavailable(service: string): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

export interface LoggedLine {
  readonly level: 'info' | 'warn' | 'error';
  readonly message: string;
}

export interface ProcessHandlers {
  readonly events?: Readonly<Record<string, EventHandler>>;
  readonly commands?: Readonly<Record<string, (payload: unknown) => Promise<unknown>>>;
}

export interface Process {
  /** Finishes the work under way. */
  stop(): Promise<void>;
  /** Like kill -9: its connections break at once and no lease is released. */
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
  /** Whether it is backfilled with all earlier events; undefined where its publishers track that. */
  isBackfilled(): Promise<boolean | undefined>;
}
