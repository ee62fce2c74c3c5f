import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { ESLint } from 'eslint';
import tseslint from 'typescript-eslint';
import { checkText } from './prose.ts';
import { findUnknownCodes, readRequirementCodes } from './requirement-codes.ts';

/**
 * Checks that the rules report violations. A rule can silently accept everything: ESLint's boundary rule does so
 * without a project graph, and so does a rule whose path pattern has a typo. Therefore `fixtures/` contains a file that
 * breaks each rule. It is checked as if it were in the folder to which the rule applies. Returns the files in which no
 * violation was reported.
 */
export async function findPassingFixtures(root: string): Promise<string[]> {
  return [
    ...(await findPassingLint(root)),
    ...(await findPassingBoundaries(root)),
    ...findPassingRequirements(root),
    ...findPassingProse(root),
  ];
}

const FIXTURES = 'tools/checks/fixtures';
const LINT_AS = '**/known-bad{,.spec}.ts';

/** Rules of eslint-plugin-jest that need types. */
const RULES_THAT_NEED_TYPES = [
  'jest/valid-expect-with-promise',
  'jest/no-unnecessary-assertion',
  'jest/no-error-equal',
];

const RULE_TO_FAIL = /^\/\/ must fail: (\S+)$/m;

async function findPassingLint(root: string): Promise<string[]> {
  const eslint = new ESLint({
    cwd: root,
    ignore: false,
    // ESLint gets these files as text, under paths that do not exist, so there are no types to check.
    overrideConfig: [
      { files: [LINT_AS], ...tseslint.configs.disableTypeChecked },
      { files: [LINT_AS], rules: Object.fromEntries(RULES_THAT_NEED_TYPES.map((rule) => [rule, 'off'])) },
    ],
  });
  const passing: string[] = [];
  for (const path of listFixtures(root, 'lint/*.ts')) {
    const text = readFileSync(join(root, path), 'utf8');
    const rule = readRuleToFail(text, path);
    const filePath = join(root, /^\/\/ lint as: (\S+)$/m.exec(text)?.[1] ?? path);
    const [result] = await eslint.lintText(text, { filePath });
    if (!result?.messages.some(({ ruleId, severity }) => ruleId === rule && severity === 2))
      passing.push(`${path} passes ${rule}`);
  }
  return passing;
}

interface CruiseResult {
  summary: { violations: { from: string; rule: { name: string } }[] };
}

/** Rules between folders report the folder, other rules report the file. */
async function findPassingBoundaries(root: string): Promise<string[]> {
  return [
    ...(await findPassingConfig(root, '.dependency-cruiser.cjs', 'shop/**/*.ts', (path) => path)),
    ...(await findPassingConfig(root, '.dependency-cruiser-folders.cjs', 'circular-folders/**/*.ts', dirname)),
  ];
}

async function findPassingConfig(
  root: string,
  config: string,
  pattern: string,
  reportedPath: (path: string) => string,
): Promise<string[]> {
  const args = [join(root, 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs'), FIXTURES];
  const options = ['--config', config, '--output-type', 'json'];
  const output = await promisify(execFile)(process.execPath, [...args, ...options], {
    cwd: root,
    maxBuffer: 64 * 1024 * 1024,
  });
  const { violations } = (JSON.parse(output.stdout) as CruiseResult).summary;
  return listFixtures(root, pattern).flatMap((path) => {
    const rule = RULE_TO_FAIL.exec(readFileSync(join(root, path), 'utf8'))?.[1];
    // A file without a rule exists only so that other files can import it.
    if (
      rule === undefined ||
      violations.some(({ from, rule: { name } }) => from === reportedPath(path) && name === rule)
    )
      return [];
    return [`${path} passes ${rule}`];
  });
}

function findPassingRequirements(root: string): string[] {
  const codes = readRequirementCodes(root);
  return listFixtures(root, 'requirements/*.ts').flatMap((path) => {
    const text = readFileSync(join(root, path), 'utf8');
    return findUnknownCodes(text, codes).length > 0 ? [] : [`${path} passes ${readRuleToFail(text, path)}`];
  });
}

function findPassingProse(root: string): string[] {
  return listFixtures(root, 'prose/*').flatMap((path) => {
    const text = readFileSync(join(root, path), 'utf8');
    return checkText(text, path.endsWith('.md') ? 'markdown' : 'code').length > 0 ? [] : [`${path} passes prose`];
  });
}

function listFixtures(root: string, pattern: string): string[] {
  const paths = globSync(join(root, FIXTURES, pattern)).map((path) => relative(root, path));
  if (paths.length === 0) throw new Error(`${FIXTURES}/${pattern} is empty.`);
  return paths.sort();
}

function readRuleToFail(text: string, path: string): string {
  const rule = RULE_TO_FAIL.exec(text)?.[1];
  if (!rule) throw new Error(`${path} does not name the rule that must report it.`);
  return rule;
}
