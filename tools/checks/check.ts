import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { referenceProblems } from '../reference/generate.ts';
import { overfullFolders } from './folder-sizes.ts';
import { passingFixtures } from './known-bad.ts';
import { machineTraces } from './machine-traces.ts';
import { unplainProse } from './prose.ts';
import { unknownRequirements } from './requirement-codes.ts';

// The checks besides the tests: `npm run check`. Prints a line for each step, and the output of failed steps.
// `node tools/checks/check.ts --fix` formats and applies automatic fixes.

const root = dirname(dirname(import.meta.dirname));
const FORMATTED = [
  '{apps,libs,tools,e2e,bench,deploy,docker,examples}/**/*.{ts,tsx,mjs,cjs,json,css}',
  '*.{json,mjs,cjs}',
  '!**/package-lock.json',
  '!**/dist/**',
  // As tools/reference writes them.
  '!libs/contracts/schemas/**',
  '!libs/messaging/src/validation/message-schemas.ts',
];

interface Step {
  readonly name: string;
  /** Resolves with the problems; empty if there are none. */
  readonly run: () => Promise<string>;
}

const fixing = process.argv.includes('--fix');
/** These run first, one after the other: lint reads the compiler's output, and the boundary rule needs the project graph. */
const first: Step[] = fixing
  ? []
  : [
      { name: 'types', run: () => tool('typescript/bin/tsc', '--build') },
      { name: 'project graph', run: () => tool('nx/dist/bin/nx.js', 'show', 'projects') },
    ];
/** These run in parallel: lint takes as long as the others together. */
const lanes: Step[][] = fixing
  ? [
      [
        {
          name: 'format',
          run: () => tool('prettier/bin/prettier.cjs', '--write', '--log-level', 'warn', ...FORMATTED),
        },
        { name: 'lint', run: () => tool('eslint/bin/eslint.js', '.', '--fix', '--max-warnings', '0') },
      ],
    ]
  : [
      [{ name: 'lint', run: () => tool('eslint/bin/eslint.js', '.', '--max-warnings', '0') }],
      [
        {
          name: 'format',
          run: () => tool('prettier/bin/prettier.cjs', '--check', '--log-level', 'warn', ...FORMATTED),
        },
        { name: 'types of tests and tools', run: () => tool('typescript/bin/tsc', '--project', 'tsconfig.spec.json') },
        { name: 'boundaries inside apps', run: cruise },
        { name: 'known-bad fixtures fail', run: async () => (await passingFixtures(root)).join('\n') },
        { name: 'small folders', run: () => Promise.resolve(overfullFolders(root).join('\n')) },
        { name: 'no traces of a machine', run: () => Promise.resolve(machineTraces(root).join('\n')) },
        { name: 'reference', run: async () => (await referenceProblems()).join('\n') },
        { name: 'plain words', run: () => Promise.resolve(unplainProse(root).join('\n')) },
        { name: 'requirements have rows', run: () => Promise.resolve(unknownRequirements(root).join('\n')) },
      ],
    ];

async function cruise(): Promise<string> {
  const run = (config: string, ...folders: string[]): Promise<string> =>
    tool('dependency-cruiser/bin/dependency-cruiser.mjs', ...folders, '--config', config, '--output-type', 'err');
  const files = await run('.dependency-cruiser.cjs', 'apps', 'libs', 'tools/svc');
  return files || run('.dependency-cruiser-folders.cjs', 'apps', 'libs', 'bench', 'tools/svc');
}

/** Runs a tool of node_modules with this Node.js. Returns its output if it fails. */
function tool(bin: string, ...args: string[]): Promise<string> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [join(root, 'node_modules', bin), ...args], {
      cwd: root,
      env: { ...process.env, NX_DAEMON: 'false', NO_COLOR: '1' },
    });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.on('error', (error) => resolve(error.message));
    child.on('close', (code) => resolve(code === 0 ? '' : output.trim() || `exit code ${code}`));
  });
}

let failed = 0;

/** Runs the steps one after the other. */
async function runAll(steps: readonly Step[]): Promise<void> {
  for (const { name, run } of steps) {
    const from = Date.now();
    const wrong = await run().catch((error: unknown) => String(error));
    console.log(`${wrong === '' ? 'ok    ' : 'FAILED'} ${name} (${((Date.now() - from) / 1000).toFixed(1)} s)`);
    if (wrong === '') continue;
    failed++;
    console.log(wrong.replace(/^/gm, '       '));
  }
}

await runAll(first);
await Promise.all(lanes.map(runAll));
process.exitCode = failed === 0 ? 0 : 1;
