import { SvcError } from '../../base/svc-error.ts';
import { command, formatQuery, usageError } from '../command.ts';
import { formatAmount } from '../output/table-columns.ts';

interface Match {
  readonly kind: string;
  readonly reference: string;
  readonly utcDate: string;
  readonly mode: string;
  readonly merchantId: number;
  readonly merchantName: string;
  readonly siteId: number;
  readonly siteName: string;
  readonly amount: number;
  readonly currencyISOCode: string;
  readonly state: string;
  readonly orderReference: string;
  readonly payableId: string;
  readonly source: string;
  readonly code: string;
}

interface Entry {
  readonly utcDate: string;
  readonly service: string;
  readonly event: string;
  readonly amount?: number;
  readonly details: readonly { readonly name: string; readonly value: string }[];
  readonly traceId?: string;
  readonly requestId?: string;
  readonly isOpen?: boolean;
}

interface MissingPart {
  readonly service: string;
  readonly part: string;
}

interface Search {
  readonly matches: readonly Match[];
  readonly hasMore: boolean;
  readonly timeline: {
    readonly subject: Match;
    readonly entries: readonly Entry[];
    readonly missing: readonly MissingPart[];
  } | null;
  readonly missing: readonly MissingPart[];
}

const CARD = /^(\*{4} ?)?\d{4}$/;

export const timelineCommand = command(
  'timeline <find> [--day=…] [--mode=…]',
  'shows all that happened to a payment, in UTC, from all services; find: payment reference, order number, session, invoice, code, or with --day=2026-03-01 the last four digits of a card',
  async (api, { find, day, mode, json }) => {
    if (find.trim() === '') throw usageError('write a payment reference, an order number, a session or a code');
    const search = (await api.call('GET', `/timeline${formatQuery({ find, day, mode })}`)) as Search;
    if (search.matches.length === 0) {
      const output = { json: search, table: formatMissing(search.missing).join('\n') };
      const hasOutput = json === true || search.missing.length > 0;
      const hint = hintFor(find, day);
      throw new SvcError(`nothing was found for "${toLine(find)}"`, { hint, ...(hasOutput ? { output } : {}) });
    }
    return json === true ? search : formatSearch(search);
  },
);

/** Where else to look. */
function hintFor(find: string, day: string | undefined): string {
  if (CARD.test(find.trim()) && day === undefined)
    return 'to search the last four digits of a card, add --day=YYYY-MM-DD (UTC)';
  return (
    'a payment without an outcome is found only by its reference, session, invoice or code; requests that were refused ' +
    'are only in the logs: see "Find a payment" in docs/operations.md'
  );
}

function formatSearch({ matches, hasMore, timeline, missing }: Search): string {
  if (timeline) {
    const parts = [...timeline.missing, ...missing.filter(({ service }) => !isListed(service, timeline.missing))];
    return [...formatSubject(timeline.subject), '', ...formatEntries(timeline), ...formatMissing(parts)].join('\n');
  }
  return [
    ...formatColumns([
      ['reference', 'time (UTC)', 'mode', 'merchant', 'site', 'amount', 'state', 'order'],
      ...matches.map((match) => [
        ...[match.reference, formatTime(match.utcDate), match.mode],
        ...[match.merchantName || String(match.merchantId), match.siteName || String(match.siteId)],
        ...[formatAmount(match.amount, match.currencyISOCode), match.state, match.orderReference],
      ]),
    ]),
    '',
    hasMore
      ? 'There are more: add --day=YYYY-MM-DD or --mode=test|live.'
      : 'Choose one: ./svc admin timeline <reference>',
    ...formatMissing(missing),
  ].join('\n');
}

const isListed = (service: string, parts: readonly MissingPart[]): boolean =>
  parts.some((part) => part.service === service);

function formatSubject(subject: Match): string[] {
  const { kind, reference, state, amount, currencyISOCode, mode, source, payableId } = subject;
  const facts: [string, string][] = [
    [kind, `${reference}  ${state}  ${formatAmount(amount, currencyISOCode)}  ${mode}`],
    ['merchant', `${subject.merchantName} (${subject.merchantId}), ${subject.siteName} (${subject.siteId})`],
    ['order', subject.orderReference],
    [source, kind === 'payment' ? payableId : ''],
    ['code', subject.code],
  ];
  return formatColumns(facts.filter(([, value]) => value !== '').map(([name, value]) => [name, value]));
}

/** Each entry has one line, and its details below. */
function formatEntries({ subject, entries }: NonNullable<Search['timeline']>): string[] {
  const services = Math.max(...entries.map(({ service }) => service.length), 0);
  const indent = ' '.repeat(TIME_WIDTH + 2);
  return entries.flatMap((entry) => {
    const { utcDate, service, event, amount, details, traceId, requestId, isOpen } = entry;
    const price = amount === undefined ? '' : `  ${formatAmount(amount, subject.currencyISOCode)}`;
    const facts = [
      ...details.map(({ name, value }) => `${name}: ${value}`),
      ...(traceId === undefined ? [] : [`trace: ${traceId}`]),
      ...(requestId === undefined ? [] : [`request: ${requestId}`]),
    ].map(toLine);
    const open = isOpen === true ? '  (no outcome yet)' : '';
    return [
      `${formatTime(utcDate)}  ${service.padEnd(services)}  ${toLine(event)}${price}${open}`,
      ...wrapFacts(facts).map((line) => `${indent}${line}`),
    ];
  });
}

const WIDTH = 96;

/** As many facts in a line as fit. */
function wrapFacts(facts: readonly string[]): string[] {
  const lines: string[] = [];
  for (const fact of facts) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + fact.length + 3 <= WIDTH) lines[lines.length - 1] = `${last} · ${fact}`;
    else lines.push(fact);
  }
  return lines;
}

function formatMissing(missing: readonly MissingPart[]): string[] {
  return missing.map(({ service, part }) => `Missing, because ${service} does not respond: ${part}.`);
}

const TIME_WIDTH = '2026-03-01 10:00:00.000'.length;

function formatTime(utcDate: string): string {
  return utcDate.replace('T', ' ').replace('Z', '');
}

function formatColumns(rows: readonly (readonly string[])[]): string[] {
  const texts = rows.map((row) => row.map(toLine));
  const widths = texts[0]!.map((_, index) => Math.max(...texts.map((row) => row[index]!.length)));
  return texts.map((row) =>
    row
      .map((text, index) => text.padEnd(widths[index]!))
      .join('  ')
      .trimEnd(),
  );
}

/** Replaces control characters, because the answer of an endpoint must not move the cursor of the terminal. */
function toLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, '?');
}
