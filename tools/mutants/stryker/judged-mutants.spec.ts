import { describe as describeMutant, judgeResults } from './judged-mutants.ts';

const FILE = 'libs/x/src/x.ts';
const SOURCE = 'export function f(a: number) {\n  return a > 1 && a > 1 ? {\n    a,\n  } : 0;\n}\n';
const at = (line: number, column: number, endLine: number, endColumn: number) => ({
  start: { line, column },
  end: { line: endLine, column: endColumn },
});
const result = (location: ReturnType<typeof at>, replacement: string, status: 'Killed' | 'Survived' = 'Survived') => ({
  fileName: FILE,
  location,
  replacement,
  status,
});
const FIRST = at(2, 10, 2, 15);
const SECOND = at(2, 19, 2, 24);
const WITHIN = 'return a > 1 && a > 1 ? {';
const entry = { file: FILE, within: WITHIN, original: 'a > 1', what: 'becomes true', reason: 'both are equal' };
const judge = (results: Parameters<typeof judgeResults>[0], entries: Parameters<typeof judgeResults>[1] = []) =>
  judgeResults(results, entries, () => SOURCE);

it.each([
  ['Killed', 'killed'],
  ['Timeout', 'killed'],
  ['Survived', 'survived'],
  ['NoCoverage', 'survived'],
  ['Ignored', 'not counted'],
  ['RuntimeError', 'not counted'],
] as const)('a mutant that Stryker reports as %s is %s', (status, verdict) => {
  expect(judge([{ ...result(FIRST, 'true'), status }]).mutants.map((mutant) => mutant.verdict)).toEqual([verdict]);
});

it('identifies a mutant by its line of code, its original in one line, its change, and its number', () => {
  const results = [result(FIRST, 'true'), result(SECOND, 'true'), result(at(2, 27, 4, 4), '{}')];
  expect(judge(results).mutants).toMatchObject([
    { line: 2, within: WITHIN, original: 'a > 1', what: 'becomes true', occurrence: 1 },
    { line: 2, within: WITHIN, original: 'a > 1', what: 'becomes true', occurrence: 2 },
    { line: 2, within: WITHIN, original: '{ a, }', what: 'becomes {}', occurrence: 1 },
  ]);
  expect(describeMutant(judge(results).mutants[1]!)).toBe(`${FILE}:2  ${WITHIN}\n      a > 1 (number 2)  becomes true`);
});

it('a mutant with an entry in the list is equivalent', () => {
  const { mutants, wrong } = judge([result(FIRST, 'true'), result(SECOND, 'true')], [{ ...entry, occurrence: 2 }]);
  expect([mutants.map(({ verdict }) => verdict), wrong]).toEqual([['survived', 'equivalent'], []]);
});

it('a mutant with an entry is equivalent also when it ran into the time limit', () => {
  const { mutants, wrong } = judge([{ ...result(FIRST, 'true'), status: 'Timeout' }], [entry]);
  expect([mutants.map(({ verdict }) => verdict), wrong]).toEqual([['equivalent'], []]);
});

it('an entry without a mutant, without a reason, or of a killed mutant is wrong', () => {
  const { mutants, wrong } = judge(
    [result(FIRST, 'true', 'Killed')],
    [entry, { ...entry, what: 'becomes false' }, { ...entry, reason: '' }],
  );
  expect(mutants.map(({ verdict }) => verdict)).toEqual(['killed']);
  expect(wrong).toEqual([
    `no mutant, or no reason: ${FILE} ${WITHIN}: a > 1 becomes false`,
    `no mutant, or no reason: ${FILE} ${WITHIN}: a > 1 becomes true`,
    expect.stringContaining('killed: '),
  ]);
});

it('an entry that matches several mutants is wrong', () => {
  const { wrong } = judge([result(FIRST, 'true'), result(SECOND, 'true')], [entry]);
  expect(wrong).toEqual([`several mutants, so it needs an occurrence: ${FILE} ${WITHIN}: a > 1 becomes true`]);
});

it('entries of other files are ignored', () => {
  expect(judge([result(FIRST, 'true')], [{ ...entry, file: 'libs/x/src/y.ts' }]).wrong).toEqual([]);
});
