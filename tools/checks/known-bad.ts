import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { ESLint } from 'eslint';
import tseslint from 'typescript-eslint';
import { unplainIn } from './prose.ts';
import { rowsOf, unknownIn } from './requirement-codes.ts';

/**
 * Rules that pass everything unseen are worse than none: ESLint's boundary rule does so without a project graph, and
 * a path pattern with a slip matches nothing. So each rule that holds the architecture is shown a file that breaks it
 * (`fixtures/`), linted as if it lay where it would do harm. Returns what was wrongly let through.
 */
export async function knownBadThatPasses(root: string): Promise<string[]> {
  return [
    ...(await passesLint(root)),
    ...(await passesCruise(root)),
    ...passesRequirements(root),
    ...passesProse(root),
  ];
}

const FIXTURES = 'tools/checks/fixtures';
const AS_IF_THERE = '**/known-bad{,.spec}.ts';

/** Rules of eslint-plugin-jest that ask for types. */
const NEEDS_TYPES = ['jest/valid-expect-with-promise', 'jest/no-unnecessary-assertion', 'jest/no-error-equal'];

const RULE_TO_FAIL = /^\/\/ must fail: (\S+)$/m;

async function passesLint(root: string): Promise<string[]> {
  const eslint = new ESLint({
    cwd: root,
    ignore: false,
    // These files exist only as text, so there are no types to check.
    overrideConfig: [
      { files: [AS_IF_THERE], ...tseslint.configs.disableTypeChecked },
      { files: [AS_IF_THERE], rules: Object.fromEntries(NEEDS_TYPES.map((rule) => [rule, 'off'])) },
    ],
  });
  const passed: string[] = [];
  for (const path of fixtures(root, 'lint/*.ts')) {
    const text = readFileSync(join(root, path), 'utf8');
    const rule = mustFail(text, path);
    const filePath = join(root, /^\/\/ lint as: (\S+)$/m.exec(text)?.[1] ?? path);
    const [result] = await eslint.lintText(text, { filePath });
    if (!result?.messages.some(({ ruleId, severity }) => ruleId === rule && severity === 2))
      passed.push(`${path} passes ${rule}`);
  }
  return passed;
}

interface CruiseResult {
  summary: { violations: { from: string; rule: { name: string } }[] };
}

/** Whole folders break a rule of folders, and single files those of files. */
async function passesCruise(root: string): Promise<string[]> {
  return [
    ...(await passesConfig(root, '.dependency-cruiser.cjs', 'shop/**/*.ts', (path) => path)),
    ...(await passesConfig(root, '.dependency-cruiser-folders.cjs', 'rooms/**/*.ts', dirname)),
  ];
}

async function passesConfig(
  root: string,
  config: string,
  pattern: string,
  culpritOf: (path: string) => string,
): Promise<string[]> {
  const args = [join(root, 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs'), FIXTURES];
  const options = ['--config', config, '--output-type', 'json'];
  const output = await promisify(execFile)(process.execPath, [...args, ...options], {
    cwd: root,
    maxBuffer: 64 * 1024 * 1024,
  });
  const { violations } = (JSON.parse(output.stdout) as CruiseResult).summary;
  return fixtures(root, pattern).flatMap((path) => {
    const rule = RULE_TO_FAIL.exec(readFileSync(join(root, path), 'utf8'))?.[1];
    // A file without a rule is what the bad ones import.
    if (rule === undefined || violations.some(({ from, rule: { name } }) => from === culpritOf(path) && name === rule))
      return [];
    return [`${path} passes ${rule}`];
  });
}

function passesRequirements(root: string): string[] {
  const rows = rowsOf(root);
  return fixtures(root, 'requirements/*.ts').flatMap((path) => {
    const text = readFileSync(join(root, path), 'utf8');
    return unknownIn(text, rows).length > 0 ? [] : [`${path} passes ${mustFail(text, path)}`];
  });
}

function passesProse(root: string): string[] {
  return fixtures(root, 'prose/*').flatMap((path) => {
    const text = readFileSync(join(root, path), 'utf8');
    return unplainIn(text, path.endsWith('.md') ? 'markdown' : 'code').length > 0 ? [] : [`${path} passes prose`];
  });
}

function fixtures(root: string, pattern: string): string[] {
  const paths = globSync(join(root, FIXTURES, pattern)).map((path) => relative(root, path));
  if (paths.length === 0) throw new Error(`${FIXTURES}/${pattern} is empty.`);
  return paths.sort();
}

function mustFail(text: string, path: string): string {
  const rule = RULE_TO_FAIL.exec(text)?.[1];
  if (!rule) throw new Error(`${path} does not say what it must fail.`);
  return rule;
}
