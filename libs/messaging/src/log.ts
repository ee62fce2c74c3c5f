/** The methods of a logger that this library calls. A pino logger has them. */
export interface MessagingLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Injection token of a service's logger, for the modules of this library. */
export const MESSAGING_LOG = Symbol('log of messaging');
