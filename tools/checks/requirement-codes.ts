import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const REQUIREMENTS = 'docs/requirements.md';
const FIXTURES = 'tools/checks/fixtures/';
const CHECKED_FILES = /\.(?:ts|tsx|mjs|js|css|md|sql|yaml)$/;

/** A code such as E2. It does not match a byte of a URL (`%C3%A9`) or a step of an SVG path (`M8 10.5`, `M0 0h`). */
const CODE = /(?<![%\w.])[ACDEHMPT]\d{1,2}(?![%\w]| \d)/g;
const ROW = /^\| ([A-Z]\d+) +\|/gm;

/**
 * A comment that cites `(E2)` is only useful if docs/requirements.md has a row E2. Returns the places that cite a
 * missing row, and the duplicate rows.
 */
export function findUnknownRequirements(root: string): string[] {
  const rows = readRequirementCodes(root);
  const files = spawnSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  }).stdout.split('\n');
  const duplicates = rows.filter((row, index) => rows.indexOf(row) !== index);
  return [
    ...duplicates.map((row) => `${REQUIREMENTS}: ${row} is a duplicate`),
    ...files
      .filter((path) => CHECKED_FILES.test(path) && !path.startsWith(FIXTURES) && existsSync(join(root, path)))
      .flatMap((path) =>
        findUnknownCodes(readFileSync(join(root, path), 'utf8'), rows).map((place) => `${path}:${place}`),
      ),
  ];
}

/** `line: code` of each code in the text that has no row. */
export function findUnknownCodes(text: string, rows: readonly string[]): string[] {
  return text
    .split('\n')
    .flatMap((line, index) =>
      [...line.matchAll(CODE)].flatMap(([code]) => (rows.includes(code) ? [] : [`${index + 1}: ${code} has no row`])),
    );
}

export function readRequirementCodes(root: string): string[] {
  const rows = [...readFileSync(join(root, REQUIREMENTS), 'utf8').matchAll(ROW)].map(([, row]) => row ?? '');
  if (rows.length === 0) throw new Error(`${REQUIREMENTS} has no rows.`);
  return rows;
}
