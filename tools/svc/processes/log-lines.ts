/** Log lines (JSON, as pino writes them) made readable: time, level, service, message, then the fields that are left. */

const LEVELS: Readonly<Record<string, string>> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
};
const VALUE_LENGTH_MAX = 300;

type LogEntry = Readonly<Record<string, unknown>>;

/** A line as a person reads it; one that is not JSON (a crash, a library's warning) as it is. */
export function formatLogLine(line: string): string {
  const entry = parseLogLine(line);
  if (entry === undefined) return line;
  const { time, level, msg, message = msg, context, err, stack, ...others } = entry;
  const { service: _service, name: _name, pid: _pid, hostname: _hostname, ...fields } = others;
  const error = typeof err === 'object' && err !== null ? (err as LogEntry) : undefined;
  const words = [
    formatTime(time),
    (LEVELS[text(level)] ?? text(level)).padEnd(5),
    serviceOf(entry).padEnd(18),
    text(message),
    context === undefined ? '' : `[${text(context)}]`,
    ...Object.entries(fields).map(([name, value]) => `${name}=${shorten(text(value))}`),
    error === undefined ? '' : `${text(error['type'] ?? 'Error')}: ${text(error['message'])}`,
  ];
  const frames = text(error?.['stack'] ?? stack)
    .split('\n')
    .slice(1);
  return [words.filter((word) => word !== '').join(' '), ...frames.map((frame) => `    ${frame.trim()}`)].join('\n');
}

/** Whether a line belongs to a service; lines that name no service belong to all. */
export function isFrom(line: string, service: string): boolean {
  const entry = parseLogLine(line);
  return entry === undefined || serviceOf(entry) === service;
}

function parseLogLine(line: string): LogEntry | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    return JSON.parse(line) as LogEntry;
  } catch {
    return undefined;
  }
}

function serviceOf(entry: LogEntry): string {
  return text(entry['service'] ?? entry['name'] ?? '-');
}

function formatTime(time: unknown): string {
  const date = new Date(typeof time === 'number' || typeof time === 'string' ? time : Number.NaN);
  return Number.isNaN(date.getTime()) ? '--:--:--.---' : date.toISOString().slice(11, 23);
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

function shorten(value: string): string {
  return value.length > VALUE_LENGTH_MAX ? `${value.slice(0, VALUE_LENGTH_MAX)}…` : value;
}
