/** Log lines (JSON, as pino writes them) made readable: time, level, service, message, then the fields that are left. */

const LEVELS: Readonly<Record<number, string>> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
};
const SHOWN_ELSEWHERE = new Set([
  'time',
  'level',
  'msg',
  'message',
  'service',
  'name',
  'context',
  'pid',
  'hostname',
  'err',
  'stack',
]);
const LONGEST_VALUE = 300;

/** A line as a person reads it; one that is not JSON (a crash, a library's warning) as it is. */
export function formatLogLine(line: string): string {
  const entry = parseLogLine(line);
  if (entry === undefined) return line;
  const head = [formatTime(entry['time']), formatLevel(entry['level']).padEnd(5), serviceOf(entry).padEnd(18)].join(
    ' ',
  );
  const error = asRecord(entry['err']);
  const message = [
    entry['msg'] ?? entry['message'],
    entry['context'] === undefined ? undefined : `[${text(entry['context'])}]`,
  ]
    .filter((part) => part !== undefined)
    .map(text)
    .join(' ');
  const fields = Object.entries(entry)
    .filter(([name]) => !SHOWN_ELSEWHERE.has(name))
    .map(([name, value]) => `${name}=${shorten(text(value))}`);
  const summary = error === undefined ? [] : [`${text(error['type'] ?? 'Error')}: ${text(error['message'] ?? '')}`];
  const stack = error === undefined ? text(entry['stack'] ?? '') : text(error['stack'] ?? '');
  const frames = stack
    .split('\n')
    .slice(1)
    .map((frame) => `\n    ${frame.trim()}`);
  return `${[head, message, ...fields, ...summary].filter((part) => part !== '').join(' ')}${frames.join('')}`;
}

/** Whether a line belongs to a service; lines that say nothing about it belong to all. */
export function isFrom(line: string, service: string): boolean {
  const entry = parseLogLine(line);
  return entry === undefined || serviceOf(entry) === service;
}

function parseLogLine(line: string): Record<string, unknown> | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    return asRecord(JSON.parse(line));
  } catch {
    return undefined;
  }
}

function serviceOf(entry: Record<string, unknown>): string {
  return text(entry['service'] ?? entry['name'] ?? '-');
}

function formatTime(time: unknown): string {
  const date = new Date(typeof time === 'number' || typeof time === 'string' ? time : Number.NaN);
  return Number.isNaN(date.getTime()) ? '--:--:--.---' : date.toISOString().slice(11, 23);
}

function formatLevel(level: unknown): string {
  return typeof level === 'number' ? (LEVELS[level] ?? String(level)) : text(level ?? '');
}

function asRecord(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

function shorten(value: string): string {
  return value.length > LONGEST_VALUE ? `${value.slice(0, LONGEST_VALUE)}…` : value;
}
