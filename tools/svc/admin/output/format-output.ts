/**
 * The output of a command for a person: a list is a table of at most 120 columns, an object has a line for each member.
 * Amounts are in Rand with cents, times in the time zone of this computer. `--json` prints the response of the API.
 */
import Table from 'cli-table3';
import { type Column, COLUMNS, formatAmount, type Row } from './table-columns.ts';

const MAX_WIDTH = 120;
const SEPARATOR = '  ';
/** A column is not cut to less than this. */
const MIN_WIDTH = 8;
const ELLIPSIS = '…';
const NOTHING = '-';
const UTC_DATE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

interface Context {
  /** IANA name. */
  readonly timeZone: string;
  /** Whether a time was formatted: the output then names the time zone. */
  hasTimes: boolean;
}

/** @param command name of the command, which selects the columns of a table */
export function formatForPerson(
  output: unknown,
  command = '',
  timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone,
): string {
  if (typeof output !== 'object' || output === null) return 'done';
  const context: Context = { timeZone, hasTimes: false };
  const text = Array.isArray(output)
    ? formatTable(output as Row[], command, context)
    : formatObject(output as Row, command, context);
  return context.hasTimes ? `${text}\n\ntimes: ${timeZone}` : text;
}

function formatTable(rows: readonly Row[], command: string, context: Context): string {
  if (rows.length === 0) return 'none';
  const columns = selectColumns(rows, command);
  const cells = rows.map((row) =>
    columns.map(({ isAmount, read }) => formatCell(read(row), row, { context, isAmount, precision: 'minutes' })),
  );
  const widths = columns.map(({ title }, index) =>
    Math.max(title.length, ...cells.map((line) => (line[index] ?? '').length)),
  );
  const canBeCut = columns.map(
    ({ isAmount, read }, index) => index > 0 && !isAmount && !rows.some((row) => isTime(read(row))),
  );
  const fitted = fitWidths(widths, canBeCut);
  // Even cut columns do not fit: a row becomes lines.
  if (fitted === undefined)
    return cells.map((line) => alignLines(columns.map(({ title }, index) => [title, line[index] ?? '']))).join('\n\n');
  return renderColumns(
    columns.map(({ title }) => title),
    cells,
    fitted,
    columns.map(({ isAmount }) => (isAmount ? 'right' : 'left')),
  );
}

type SelectedColumn = Required<Column>;

/** The columns of the command that a row has. Without columns for the command, all members. */
function selectColumns(rows: readonly Row[], command: string): SelectedColumn[] {
  const members = new Set(rows.flatMap((row) => Object.keys(row)));
  const columns: readonly Column[] = COLUMNS[command] ?? [...members].map((name) => ({ name }));
  return columns
    .filter(({ name, read }) => read !== undefined || members.has(name))
    .map(({ name, ...column }) => ({
      ...{ name, title: toTitle(name), isAmount: isAmountName(name), read: (row: Row) => row[name] },
      ...column,
    }));
}

/** Times are local, so their titles have no `UTCDate`. */
function toTitle(name: string): string {
  return name.replace(/(UTCDate|At)$/, '');
}

/**
 * Cuts the last columns, which are the least important, until the table fits. Undefined if it cannot fit.
 *
 * @param canBeCut false for the first column, which other commands need, and for amounts and times
 */
function fitWidths(widths: readonly number[], canBeCut: readonly boolean[]): number[] | undefined {
  const fitted = [...widths];
  let excess = widths.reduce((sum, width) => sum + width, 0) + SEPARATOR.length * (widths.length - 1) - MAX_WIDTH;
  for (let index = fitted.length - 1; index > 0 && excess > 0; index--) {
    const cut = canBeCut[index] === true ? Math.min(excess, Math.max(0, fitted[index]! - MIN_WIDTH)) : 0;
    fitted[index]! -= cut;
    excess -= cut;
  }
  return excess > 0 ? undefined : fitted;
}

const NO_BORDERS = Object.fromEntries(
  ['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right']
    .concat(['left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid', 'middle'])
    .map((part) => [part, '']),
);

function renderColumns(
  head: readonly string[],
  lines: readonly (readonly string[])[],
  widths: readonly number[],
  colAligns: ('left' | 'right')[],
): string {
  const table = new Table({
    chars: { ...NO_BORDERS, middle: SEPARATOR },
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [] },
    colWidths: [...widths],
    colAligns,
    truncate: ELLIPSIS,
  });
  table.push([...head], ...lines.map((line) => [...line]));
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}

/** Members that are lists of objects become tables below the other members. */
function formatObject(output: Row, command: string, context: Context): string {
  const entries = flatten(output);
  const isList = (value: unknown): value is Row[] =>
    Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'object' && item !== null);
  const lines = entries
    .filter(({ value }) => !isList(value))
    .map(({ path, name, value, parent }): [string, string] => [
      isTime(value) ? toTitle(path) : path,
      formatCell(value, parent, { context, isAmount: isAmountName(name), precision: 'seconds' }),
    ]);
  const tables = entries.flatMap(({ path, value }) =>
    isList(value) ? [`${path}:\n${formatTable(value, `${command} ${path}`, context)}`] : [],
  );
  return [...(lines.length > 0 ? [alignLines(lines)] : []), ...tables].join('\n\n');
}

interface Member {
  /** The names from the outermost object, as in `fees.test.fixedAmount`. */
  readonly path: string;
  readonly name: string;
  readonly value: unknown;
  /** The object of the member, which has the currency of an amount. */
  readonly parent: Row;
}

function flatten(object: Row, prefix = ''): Member[] {
  return Object.entries(object).flatMap(([name, value]) => {
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject && Object.keys(value).length > 0
      ? flatten(value as Row, `${prefix}${name}.`)
      : [{ path: `${prefix}${name}`, name, value, parent: object }];
  });
}

function alignLines(lines: readonly (readonly [string, string])[]): string {
  const width = Math.max(...lines.map(([name]) => name.length));
  return lines.map(([name, value]) => `${name.padEnd(width)}${SEPARATOR}${value}`).join('\n');
}

const isTime = (value: unknown): value is string => typeof value === 'string' && UTC_DATE.test(value);
const isAmountName = (name: string): boolean => /(^a|A)mount$/.test(name);

interface CellFormat {
  readonly context: Context;
  readonly isAmount: boolean;
  readonly precision: Precision;
}

function formatCell(value: unknown, row: Row, { context, isAmount, precision }: CellFormat): string {
  if (isAmount && Number.isSafeInteger(value)) return formatAmount(value as number, row['currencyISOCode']);
  if (isTime(value)) {
    context.hasTimes = true;
    return formatTime(value, context.timeZone, precision);
  }
  return replaceControlCharacters(formatValue(value));
}

function formatValue(value: unknown): string {
  if (value === undefined || value === null || value === '') return NOTHING;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string') return value;
  if (typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return value.length === 0 ? NOTHING : value.map(formatValue).join(', ');
  const members = flatten(value as Row).map(({ path, value: member }) => `${path} ${formatValue(member)}`);
  return members.length === 0 ? NOTHING : members.join(', ');
}

type Precision = 'minutes' | 'seconds';

/** `2026-11-20 20:03`, or with seconds. */
function formatTime(utcDate: string, timeZone: string, precision: Precision): string {
  const format = new Intl.DateTimeFormat('sv-SE', {
    ...{ timeZone, year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' },
    ...(precision === 'seconds' ? { second: '2-digit' } : {}),
  });
  return format.format(new Date(utcDate));
}

/** Replaces control characters by `?`, because a merchant's name must not move the cursor of the terminal. */
function replaceControlCharacters(text: string): string {
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, '?');
}
