/** Formats pino's JSON log lines: time, level, service, message, other fields. */

const LEVELS: Readonly<Record<string, string>> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
};
const MAX_VALUE_LENGTH = 300;

type LogEntry = Readonly<Record<string, unknown>>;

/** A line that is not JSON (a crash, a library's warning) stays unchanged. */
export function formatLogLine(line: string): string {
  const entry = parseLogLine(line);
  if (entry === undefined) return line;
  const { time, level, msg, message = msg, context, err, stack, ...others } = entry;
  const { service: _service, name: _name, pid: _pid, hostname: _hostname, ...fields } = others;
  const error = typeof err === 'object' && err !== null ? (err as LogEntry) : undefined;
  const words = [
    formatTime(time),
    (LEVELS[formatValue(level)] ?? formatValue(level)).padEnd(5),
    findService(entry).padEnd(18),
    formatValue(message),
    context === undefined ? '' : `[${formatValue(context)}]`,
    ...Object.entries(fields).map(([name, value]) => `${name}=${shorten(formatValue(value))}`),
    error === undefined ? '' : `${formatValue(error['type'] ?? 'Error')}: ${formatValue(error['message'])}`,
  ];
  const frames = formatValue(error?.['stack'] ?? stack)
    .split('\n')
    .slice(1);
  return [words.filter((word) => word !== '').join(' '), ...frames.map((frame) => `    ${frame.trim()}`)].join('\n');
}

/**
 * Whether a line belongs to the service: a line of its own, or a line of the supervisor about it. A line that is not JSON
 * belongs to every service.
 */
export function isLineOfService(line: string, service: string): boolean {
  const entry = parseLogLine(line);
  if (entry === undefined) return true;
  const writer = findService(entry);
  return writer === service || (writer === 'supervisor' && entry['app'] === service);
}

function parseLogLine(line: string): LogEntry | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    return JSON.parse(line) as LogEntry;
  } catch {
    return undefined;
  }
}

function findService(entry: LogEntry): string {
  return formatValue(entry['service'] ?? entry['name'] ?? '-');
}

function formatTime(time: unknown): string {
  const date = new Date(typeof time === 'number' || typeof time === 'string' ? time : Number.NaN);
  return Number.isNaN(date.getTime()) ? '--:--:--.---' : date.toISOString().slice(11, 23);
}

function formatValue(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

function shorten(value: string): string {
  return value.length > MAX_VALUE_LENGTH ? `${value.slice(0, MAX_VALUE_LENGTH)}…` : value;
}
