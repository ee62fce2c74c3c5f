import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const REQUIREMENTS = 'docs/requirements';
const FIXTURES = 'tools/checks/fixtures/';
const CHECKED_FILES = /\.(?:ts|tsx|mjs|js|css|md|sql|yaml)$/;

/** A code such as E2. It does not match a byte of a URL (`%C3%A9`) or a step of an SVG path (`M8 10.5`, `M0 0h`). */
const CODE = /(?<![%\w.])[ACDEHMPT]\d{1,2}(?![%\w]| \d)/g;
const HEADING = /^## ([A-Z]\d+):/gm;

/**
 * A comment that cites `(E2)` is only useful if docs/requirements has a heading E2. Returns the places that cite a
 * missing requirement, and the duplicate headings.
 */
export function findUnknownRequirements(root: string): string[] {
  const codes = readRequirementCodes(root);
  const files = spawnSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  }).stdout.split('\n');
  const duplicates = codes.filter((code, index) => codes.indexOf(code) !== index);
  return [
    ...duplicates.map((code) => `${REQUIREMENTS}: ${code} is a duplicate`),
    ...files
      .filter((path) => CHECKED_FILES.test(path) && !path.startsWith(FIXTURES) && existsSync(join(root, path)))
      .flatMap((path) =>
        findUnknownCodes(readFileSync(join(root, path), 'utf8'), codes).map((place) => `${path}:${place}`),
      ),
  ];
}

/** `line: code` of each code in the text that is not one of `codes`. */
export function findUnknownCodes(text: string, codes: readonly string[]): string[] {
  return text
    .split('\n')
    .flatMap((line, index) =>
      [...line.matchAll(CODE)].flatMap(([code]) =>
        codes.includes(code) ? [] : [`${index + 1}: ${code} is no requirement`],
      ),
    );
}

export function readRequirementCodes(root: string): string[] {
  const folder = join(root, REQUIREMENTS);
  const codes = readdirSync(folder).flatMap((file) =>
    [...readFileSync(join(folder, file), 'utf8').matchAll(HEADING)].map(([, code]) => code ?? ''),
  );
  if (codes.length === 0) throw new Error(`${REQUIREMENTS} has no headings of requirements.`);
  return codes;
}
