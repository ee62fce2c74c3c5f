import type { LoggerService } from '@nestjs/common';
import { trace } from '@opentelemetry/api';
import { DomainError } from '@svc/kernel';
import { loggableMessage, maskNumbers, sqlState } from '@svc/persistence/transaction';
import { type Logger, pino } from 'pino';

export type ServiceLog = Logger;
/** Injection token of the service's own logger. */
export const SERVICE_LOG = Symbol('ServiceLog');

/**
 * Creates a logger that writes JSON lines to stdout. Each line contains the service's name, because several services
 * may share a process.
 */
export function newLog(service: string, level: string): ServiceLog {
  return pino({
    level,
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: describeError },
    // The trace id links a log line to its trace (C8). There is no trace id if telemetry is off.
    mixin: () => {
      const span = trace.getActiveSpan()?.spanContext();
      return span ? { traceId: span.traceId } : {};
    },
  });
}

/**
 * The properties of an error that may be logged. All other properties are omitted, because errors of drivers and
 * libraries contain statements, parameters, requests and bodies with personal data.
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
    // Network errors such as ECONNREFUSED may have a code but no message.
    ...(typeof code === 'string' && /^E[A-Z]+$/.test(code) ? { code } : {}),
    ...(state ? { sqlState: state } : {}),
    stack: error.stack && [`${error.name}: ${message}`, ...findFrames(error.stack)].join('\n'),
    ...(error.cause !== undefined && depth < 3 ? { cause: describeError(error.cause, depth + 1) } : {}),
  };
}

/** The lines of a stack without the original message, with which it begins and which may have several lines. */
function findFrames(stack: string): string[] {
  return stack.split('\n').filter((line) => /^ +at /.test(line));
}

/** Writes Nest's messages to the log of the service. */
export function nestLog(log: Logger): LoggerService {
  const write =
    (level: 'debug' | 'warn' | 'error') =>
    (message: unknown, ...rest: unknown[]): void => {
      const nestContext = typeof rest.at(-1) === 'string' ? rest.at(-1) : undefined;
      const err = message instanceof Error ? message : undefined;
      log[level]({ nestContext, err }, err ? loggableMessage(err) : maskNumbers(String(message)));
    };
  // Nest logs every module and route at startup, which is only useful for debugging.
  return {
    log: write('debug'),
    debug: write('debug'),
    verbose: write('debug'),
    warn: write('warn'),
    error: write('error'),
    fatal: write('error'),
  };
}
