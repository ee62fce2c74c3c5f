import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Mutant } from '../mutations/catalogue.ts';
import { readMutants } from '../mutations/catalogue.ts';
import { openBaselineCache } from './baseline-cache.ts';
import type { Lane } from './lanes.ts';
import { createLane } from './lanes.ts';
import { runMutants } from './run-mutants.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const FOLDER = 'tools/mutants/fixtures/apps/shop/src';

let folder: string;
let lane: Lane;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mutants-'));
  lane = createLane(1, folder, '', () => process.env);
});
afterEach(() => {
  lane.stop();
  rmSync(folder, { recursive: true });
});

/** Judges all mutants of a file. */
async function judge(file: string, specs: readonly string[]) {
  const allMutants = readMutants(root, `${FOLDER}/${file}`);
  const survivors: Mutant[] = [];
  const failedSpecs: string[] = [];
  const verdicts = await runMutants(
    { mutants: allMutants, allMutants, specs: specs.map((spec) => `${FOLDER}/${spec}`) },
    { all: [lane], startBroker: () => Promise.resolve(), stop: () => Promise.resolve() },
    openBaselineCache(root, folder),
    {
      recorded: () => undefined,
      judged: () => undefined,
      survived: (mutant) => survivors.push(mutant),
      failedLastResort: (reason) => failedSpecs.push(reason),
    },
  );
  return {
    verdicts: allMutants.map((mutant) => `${mutant.original}, ${mutant.what}: ${verdicts.get(mutant)?.status}`),
    survived: allMutants.filter((mutant) => verdicts.get(mutant)?.status === 'survived'),
    survivors,
    failedSpecs,
  };
}

it('runMutants judges each guard, also a guard that is evaluated only once or that affects later tests', async () => {
  const { verdicts, survived, survivors, failedSpecs } = await judge('order.ts', ['order.spec.ts', 'no-test.timed.ts']);

  expect(verdicts).toEqual([
    'order.merchantId === merchantId, always true: killed',
    'order.merchantId === merchantId, always false: killed',
    'order.mode === mode, always true: survived',
    'order.mode === mode, always false: killed',
    'now < order.expiresAt, always true: killed',
    'now < order.expiresAt, always false: killed',
    'now < order.expiresAt, < becomes <=: killed',
    `order.state === 'open', always true: not reached`,
    `order.state === 'open', always false: not reached`,
    `shopMode !== 'test', always true: survived`,
    `shopMode !== 'test', always false: killed`,
    `order.state === 'open', always true: survived`,
    `order.state === 'open', always false: killed`,
  ]);
  expect(new Set(survivors)).toEqual(new Set(survived));
  expect(survivors).toHaveLength(3);
  // This spec runs for mutants that no other spec kills. The spec fails, but its failure changes no verdict.
  expect(failedSpecs).toEqual([expect.stringContaining('no-test.timed.ts')]);
});

it('runMutants judges each guard in SQL, also in a statement that is built when its file is loaded', async () => {
  const { verdicts } = await judge('orders.repository.ts', ['orders.repository.int-spec.ts']);

  expect(verdicts).toEqual([
    'merchant_id = $2, always true: killed',
    `state = 'open', always true: survived`,
    'mode = $1, always true: killed',
  ]);
});

it('a mutant in SQL is no longer active when its process runs the next spec', async () => {
  const spec = `${FOLDER}/orders.repository.int-spec.ts`;
  const mutant = readMutants(root, `${FOLDER}/orders.repository.ts`)[0]!;
  const { site, statement } = mutant;
  const statements = [{ site, original: statement!.original, mutants: { [mutant.id]: statement!.mutated } }];
  const withMutant = await lane.run(spec, {
    kind: 'alone',
    mutant: mutant.id,
    tests: [0],
    ms: {},
    statements,
  });
  expect(withMutant.lines).toContainEqual(expect.objectContaining({ type: 'ran', failed: true }));
  const next = await lane.run(spec, { kind: 'record', statements });
  expect(next.lines.filter(({ type }) => type === 'test')).toEqual(
    [0, 1].map((test) => expect.objectContaining({ test, failed: false })),
  );
});

it.each([
  ['the same process', false],
  ['a new process', true],
])('a lane runs the next spec in %s if a transaction is open after a run: %s', async (_, isOpen) => {
  const otherLane = createLane(
    2,
    folder,
    '',
    () => process.env,
    () => Promise.resolve(isOpen),
  );
  const findProcess = async (): Promise<string | undefined> => {
    const { lines } = await otherLane.run(`${FOLDER}/process-id.spec.ts`, { kind: 'record', statements: [] });
    return lines.find((line) => line.type === 'test')?.name;
  };
  const [first, second] = [await findProcess(), await findProcess()];
  otherLane.stop();
  expect(first).toMatch(/^\d+$/);
  expect(second !== first).toBe(isOpen);
});
