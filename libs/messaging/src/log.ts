/** What messaging needs of a logger; pino has it. */
export interface MessagingLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
