/** The system under measurement: it answers the gateway's calls and sends webhooks. */
import type { Groups } from '../measuring/cpu.ts';

/** A merchant of the system, with the settings of its server. */
export interface Merchant {
  readonly gatewayUrl: string;
  readonly merchantId: string;
  readonly siteId: string;
  readonly apiKey: string;
  /** `whsec_…` */
  readonly webhookSecret: string;
}

export interface RunningSystem {
  readonly merchant: Merchant;
  /** Processes whose CPU is counted: services, PostgreSQL, RabbitMQ. */
  readonly groups: Groups;
  /** Runs one statement over all schemas, as a superuser. */
  readonly sql: <Row extends object>(statement: string) => Promise<Row[]>;
  /** Payment references of all charges at the acquirer, one for each charge. */
  readCharges(): string[];
  stop(): Promise<void>;
}

export interface System<Running extends RunningSystem = RunningSystem> {
  /** The name in the report. */
  readonly name: string;
  /** @param acquirerLatencyMs delay of each answer of the acquirer */
  start(acquirerLatencyMs: number): Promise<Running>;
}
