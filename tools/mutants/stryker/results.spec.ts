import { describeMutant } from '../equivalents.ts';
import { readResults } from './results.ts';

const FILE = 'libs/x/src/x.ts';
const SOURCE = 'export function f(a: number) {\n  return a > 1 && a > 1 ? {\n    a,\n  } : 0;\n}\n';
const at = (line: number, column: number, endLine: number, endColumn: number) => ({
  start: { line, column },
  end: { line: endLine, column: endColumn },
});
type Status = Parameters<typeof readResults>[1][number]['status'];
const result = (location: ReturnType<typeof at>, replacement: string, status: Status = 'Survived') => ({
  fileName: FILE,
  location,
  replacement,
  status,
});
const FIRST = at(2, 10, 2, 15);
const WITHIN = 'return a > 1 && a > 1 ? {';
const entry = { file: FILE, within: WITHIN, original: 'a > 1', change: 'becomes true', reason: 'both are equal' };
const read = (results: Parameters<typeof readResults>[1], entries: Parameters<typeof readResults>[2] = []) =>
  readResults('libs/x', results, entries, () => SOURCE);

it.each([
  ['Killed', 0, '1 killed, 0 survived'],
  ['Timeout', 0, '1 killed, 0 survived'],
  ['Survived', 1, '0 killed, 1 survived'],
  ['NoCoverage', 1, '0 killed, 1 survived'],
  ['Ignored', 0, '0 killed, 0 survived'],
  ['RuntimeError', 0, '0 killed, 0 survived'],
] as const)('a mutant that Stryker reports as %s: %d survived', (status, survived, summary) => {
  const results = read([result(FIRST, 'true', status)]);
  expect(results.survived).toHaveLength(survived);
  expect(results.summary).toBe(`libs/x  ${summary}, 0 equivalent`);
});

it('describes a mutant by its line of code, its original in one line, and its change', () => {
  const { survived } = read([result(FIRST, 'true'), result(at(2, 27, 4, 4), '{}')]);
  expect(survived.map(describeMutant)).toEqual([
    `${FILE}:2  ${WITHIN}\n      a > 1  becomes true`,
    `${FILE}:2  ${WITHIN}\n      { a, }  becomes {}`,
  ]);
});

it('a mutant with an entry in the list is equivalent', () => {
  const { survived, unneeded, summary } = read([result(FIRST, 'true'), result(FIRST, 'false')], [entry]);
  expect(survived.map(({ change }) => change)).toEqual(['becomes false']);
  expect([unneeded, summary]).toEqual([[], 'libs/x  0 killed, 1 survived, 1 equivalent']);
});

it.each([
  ['Survived', 0],
  ['Timeout', 0],
  ['Killed', 1],
] as const)('the entry of a mutant that is %s: %d unneeded', (status, count) => {
  expect(read([result(FIRST, 'true', status)], [entry]).unneeded).toHaveLength(count);
});

it('entries of other files are ignored', () => {
  expect(read([result(FIRST, 'true')], [{ ...entry, file: 'libs/x/src/y.ts' }]).unneeded).toEqual([]);
});
