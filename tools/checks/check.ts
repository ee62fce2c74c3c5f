import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { findStaleObservability } from '../../deploy/observability/generate.ts';
import { findReferenceProblems } from '../reference/generate.ts';
import { findOverfullFolders } from './folder-sizes.ts';
import { findPassingFixtures } from './known-bad.ts';
import { findMachineTraces } from './machine-traces.ts';
import { findUnclearProse } from './prose.ts';
import { findUnknownRequirements } from './requirement-codes.ts';

// `npm run check`: runs all checks except the tests. Prints a line for each step, and the output of failed steps.
// `node tools/checks/check.ts --fix` formats the code and applies automatic fixes instead.

const root = dirname(dirname(import.meta.dirname));
const FORMATTED = [
  '{apps,libs,tools,e2e,bench,deploy,docker,examples}/**/*.{ts,tsx,mjs,cjs,json,css}',
  '*.{json,mjs,cjs}',
  '!**/package-lock.json',
  '!**/dist/**',
  // tools/reference generates these files.
  '!libs/contracts/schemas/**',
  '!libs/messaging/src/validation/message-schemas.ts',
  // deploy/observability/generate.ts generates these files.
  '!deploy/observability/grafana/**',
];

interface Step {
  readonly name: string;
  /** Returns the problems; empty if there are none. */
  readonly run: () => Promise<string>;
}

const isFixing = process.argv.includes('--fix');
/** Steps that run first, in this order. Lint reads the compiler's output, and its boundary rule the project graph. */
const sequentialSteps: Step[] = isFixing
  ? []
  : [
      { name: 'types', run: () => runTool('typescript/bin/tsc', '--build') },
      { name: 'project graph', run: () => runTool('nx/dist/bin/nx.js', 'show', 'projects') },
    ];
/** Lists of steps that run in parallel, because lint takes as long as all other steps together. */
const parallelLanes: Step[][] = isFixing
  ? [
      [
        {
          name: 'format',
          run: () => runTool('prettier/bin/prettier.cjs', '--write', '--log-level', 'warn', ...FORMATTED),
        },
        { name: 'lint', run: () => runTool('eslint/bin/eslint.js', '.', '--fix', '--max-warnings', '0') },
      ],
    ]
  : [
      [{ name: 'lint', run: () => runTool('eslint/bin/eslint.js', '.', '--max-warnings', '0') }],
      [
        {
          name: 'format',
          run: () => runTool('prettier/bin/prettier.cjs', '--check', '--log-level', 'warn', ...FORMATTED),
        },
        {
          name: 'types of tests and tools',
          run: () => runTool('typescript/bin/tsc', '--project', 'tsconfig.spec.json'),
        },
        { name: 'boundaries inside apps', run: checkBoundaries },
        { name: 'known-bad fixtures fail', run: async () => (await findPassingFixtures(root)).join('\n') },
        { name: 'small folders', run: () => Promise.resolve(findOverfullFolders(root).join('\n')) },
        { name: 'no traces of a machine', run: () => Promise.resolve(findMachineTraces(root).join('\n')) },
        { name: 'reference', run: async () => (await findReferenceProblems()).join('\n') },
        { name: 'metrics, alerts and dashboards', run: () => Promise.resolve(findStaleObservability().join('\n')) },
        { name: 'plain words', run: () => Promise.resolve(findUnclearProse(root).join('\n')) },
        { name: 'cited requirements exist', run: () => Promise.resolve(findUnknownRequirements(root).join('\n')) },
      ],
    ];

async function checkBoundaries(): Promise<string> {
  const check = (config: string, ...folders: string[]): Promise<string> =>
    runTool('dependency-cruiser/bin/dependency-cruiser.mjs', ...folders, '--config', config, '--output-type', 'err');
  const problems = await check('.dependency-cruiser.cjs', 'apps', 'libs', 'tools/svc');
  return problems || check('.dependency-cruiser-folders.cjs', 'apps', 'libs', 'bench', 'tools/svc');
}

/** Runs a tool of node_modules with the Node.js of this process. Returns its output if it fails, else an empty text. */
function runTool(bin: string, ...args: string[]): Promise<string> {
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

let failedSteps = 0;

/** Runs the steps one after the other. */
async function runAll(steps: readonly Step[]): Promise<void> {
  for (const { name, run } of steps) {
    const from = Date.now();
    const problems = await run().catch((error: unknown) => String(error));
    console.log(`${problems === '' ? 'ok    ' : 'FAILED'} ${name} (${((Date.now() - from) / 1000).toFixed(1)} s)`);
    if (problems === '') continue;
    failedSteps++;
    console.log(problems.replace(/^/gm, '       '));
  }
}

await runAll(sequentialSteps);
await Promise.all(parallelLanes.map(runAll));
process.exitCode = failedSteps === 0 ? 0 : 1;
