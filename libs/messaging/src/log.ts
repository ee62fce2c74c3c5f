/** What messaging needs of a logger; pino has it. */
export interface MessagingLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Token by which modules that know no service are given its log. */
export const MESSAGING_LOG = Symbol('log of messaging');
