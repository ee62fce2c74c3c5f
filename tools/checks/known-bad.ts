import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { ESLint } from 'eslint';
import tseslint from 'typescript-eslint';
import { unplainIn } from './prose.ts';
import { rowsOf, unknownIn } from './requirement-codes.ts';

/**
 * A rule that silently passes everything is worse than none: ESLint's boundary rule does so without a project graph, and a
 * path pattern with a typo matches nothing. So each architecture rule gets a file that breaks it (`fixtures/`), checked as if
 * it were in the real folder. Returns the files that wrongly passed.
 */
export async function passingFixtures(root: string): Promise<string[]> {
  return [
    ...(await passesLint(root)),
    ...(await passesCruise(root)),
    ...passesRequirements(root),
    ...passesProse(root),
  ];
}

const FIXTURES = 'tools/checks/fixtures';
const LINT_AS = '**/known-bad{,.spec}.ts';

/** Rules of eslint-plugin-jest that need types. */
const NEEDS_TYPES = ['jest/valid-expect-with-promise', 'jest/no-unnecessary-assertion', 'jest/no-error-equal'];

const RULE_TO_FAIL = /^\/\/ must fail: (\S+)$/m;

async function passesLint(root: string): Promise<string[]> {
  const eslint = new ESLint({
    cwd: root,
    ignore: false,
    // These files exist only as text, so there are no types to check.
    overrideConfig: [
      { files: [LINT_AS], ...tseslint.configs.disableTypeChecked },
      { files: [LINT_AS], rules: Object.fromEntries(NEEDS_TYPES.map((rule) => [rule, 'off'])) },
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

/** A rule of folders reports whole folders, other rules report single files. */
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
    // A file without a rule is only an import of the bad ones.
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
  if (!rule) throw new Error(`${path} does not name the rule that it must fail.`);
  return rule;
}
