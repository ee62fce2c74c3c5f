import type { ManualClock } from '@svc/testing';
import type { DataSource } from 'typeorm';
import type { Commands, DeadLetters, EventHandler, EventLog, Relay } from '../../src/index.js';
import type { Gate } from './gate.js';

/**
 * Runs the contract tests with one broker. Starts, stops and kills simulated processes of services with PostgreSQL
 * databases, and gives the test a separate connection to each database. Processes with the same service name are
 * replicas, so they share the database.
 */
export interface MessagingHarness {
  readonly clock: ManualClock;
  /** The log lines of all processes. */
  readonly logLines: LoggedLine[];
  /** The test's connection to the migrated database of a service. It stays open when the service's processes end. */
  database(service: string): Promise<DataSource>;
  startProducer(service: string): Promise<Producer>;
  startConsumer(service: string, handles: ProcessHandlers): Promise<ConsumingProcess>;
  /** From now on, a relay waits at the returned gate after it has delivered a batch and before it moves its cursor. */
  holdDeliveries(): Gate;
  /**
   * Ends all connections to the service's database and rejects new connections until the returned function is called.
   */
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
  /** Completes the messages in progress, then ends the process. */
  stop(): Promise<void>;
  /** Simulates kill -9: the connections of the process break immediately, and no lease is released. */
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
  /** See {@link Transport.isBackfilled}. */
  isBackfilled(): Promise<boolean | undefined>;
}
