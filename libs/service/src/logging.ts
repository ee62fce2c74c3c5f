import type { LoggerService } from '@nestjs/common';
import { trace } from '@opentelemetry/api';
import { type Logger, pino } from 'pino';
import { DomainError } from '@svc/kernel';
import { loggableMessage, sqlState } from '@svc/persistence/transaction';

export type ServiceLog = Logger;
/** Injection token of the service's own logger. */
export const SERVICE_LOG = Symbol('ServiceLog');

/** JSON lines on stdout, with the service's name on each: in one process several services share the stream. */
export function newLog(service: string, level: string): ServiceLog {
  return pino({
    level,
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: describeError },
    // Finds the trace from a log line, and the other way round (C8); nothing when telemetry is off.
    mixin: () => {
      const span = trace.getActiveSpan()?.spanContext();
      return span ? { traceId: span.traceId } : {};
    },
  });
}

/**
 * What of an error may be written down. An allow-list: errors of drivers and libraries carry statements,
 * parameters, requests and bodies, and those carry people's data.
 */
export function describeError(error: unknown, depth = 0): object {
  if (!(error instanceof Error)) return { type: typeof error };
  const message = loggableMessage(error);
  const state = sqlState(error);
  const { code } = error as { code?: unknown };
  return {
    type: error.name,
    message,
    ...(error instanceof DomainError ? { code: error.code, fields: error.fields.map(({ field }) => field) } : {}),
    // ECONNREFUSED and its like; errors of that kind may have no message at all.
    ...(typeof code === 'string' && /^E[A-Z]+$/.test(code) ? { code } : {}),
    ...(state ? { sqlState: state } : {}),
    // Begins with the message.
    stack: error.stack?.replace(error.message, message),
    ...(error.cause !== undefined && depth < 3 ? { cause: describeError(error.cause, depth + 1) } : {}),
  };
}

/** Lets Nest's own messages into the same stream; Nest has one logger a process, so it names no service. */
export function nestLog(log: Logger): LoggerService {
  const write =
    (level: 'debug' | 'warn' | 'error') =>
    (message: unknown, ...rest: unknown[]): void => {
      const nestContext = typeof rest.at(-1) === 'string' ? rest.at(-1) : undefined;
      const err = message instanceof Error ? message : undefined;
      log[level]({ nestContext, err }, err ? err.message : String(message));
    };
  // Nest reports every module and route it starts; that is for debugging.
  return {
    log: write('debug'),
    debug: write('debug'),
    verbose: write('debug'),
    warn: write('warn'),
    error: write('error'),
    fatal: write('error'),
  };
}
