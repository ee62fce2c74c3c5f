import type { AlertDrill } from './alert-drill.js';

/** Values of the placeholders in the commands of the runbook, such as SITE. */
export type Values = Readonly<Record<string, string>>;

export interface Caused {
  /** After the alert fires: values for the commands. A command without its values is not run. */
  readonly values?: Values | (() => Promise<Values>);
  /** The only node of RabbitMQ does not run, so the commands of "Look at" that ask the node cannot be run. */
  readonly isBrokerDown?: boolean;
  /** The repair by a person outside the platform, before the commands of "Do". */
  readonly repair?: () => Promise<unknown>;
  /** After the commands of "Do": what the runbook says in words, for example that a person pays again. */
  readonly afterwards?: () => Promise<unknown>;
}

interface CausedCase {
  readonly alert: string;
  /** For the table: the real cause. */
  readonly how: string;
  readonly cause: (drill: AlertDrill) => Promise<Caused>;
}

interface NotCausedCase {
  readonly alert: string;
  readonly notCaused: string;
}

export type AlertCase = CausedCase | NotCausedCase;
