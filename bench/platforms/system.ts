/** The system that is measured. It has the API of the hosted gateway and sends webhooks. */
import type { ProcessGroups } from '../measuring/cpu.ts';

/** A merchant of the system, with the addresses and credentials that its server needs. */
export interface Merchant {
  readonly gatewayUrl: string;
  readonly merchantId: string;
  readonly siteId: string;
  readonly apiKey: string;
  /** Secret for the signatures of webhooks: `whsec_…` */
  readonly webhookSecret: string;
}

export interface RunningSystem {
  readonly merchant: Merchant;
  /** Processes whose CPU is measured: services, PostgreSQL, RabbitMQ. */
  readonly groups: ProcessGroups;
  /** Runs one SQL statement as a superuser, who can read all schemas. */
  readonly sql: <Row extends object>(statement: string) => Promise<Row[]>;
  /** Payment references of all charges at the acquirer, one for each charge. */
  readCharges(): string[];
  stop(): Promise<void>;
}

export interface System<Running extends RunningSystem = RunningSystem> {
  /** The name in the report. */
  readonly name: string;
  /** Time after which the simulated acquirer responds. */
  readonly acquirerLatencyMs: number;
  /** The system whose rate decides how many payments a second are half load for this system. Default: this system. */
  readonly halfLoadOf?: string;
  start(): Promise<Running>;
}
