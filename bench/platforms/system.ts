/** What the hosted payment is measured on: something that answers the gateway's calls and sends webhooks. */
import type { Groups } from '../measuring/cpu.ts';

/** A merchant of the system, as its server knows itself. */
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
  /** One statement over all schemas, as a superuser. */
  readonly sql: <Row extends object>(statement: string) => Promise<Row[]>;
  /** Payment references that the acquirer has charged, once for each charge. */
  charged(): string[];
  stop(): Promise<void>;
}

export interface System<Running extends RunningSystem = RunningSystem> {
  /** As the report calls it. */
  readonly name: string;
  /** @param acquirerLatencyMs how late the acquirer answers */
  start(acquirerLatencyMs: number): Promise<Running>;
}
