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

it('runMutants judges each guard, also a guard that is evaluated only once or that affects later tests', async () => {
  const allMutants = readMutants(root, `${FOLDER}/order.ts`);
  const specs = [`${FOLDER}/order.spec.ts`, `${FOLDER}/no-test.timed.ts`];
  const lanes = { all: [lane], startBroker: () => Promise.resolve(), stop: () => Promise.resolve() };
  const survivors: Mutant[] = [];
  const failedSpecs: string[] = [];
  const progress = {
    recorded: () => undefined,
    judged: () => undefined,
    survived: (mutant: Mutant) => survivors.push(mutant),
    failedLastResort: (reason: string) => failedSpecs.push(reason),
  };
  const verdicts = await runMutants(
    { mutants: allMutants, allMutants, specs },
    lanes,
    openBaselineCache(root, folder),
    progress,
  );

  expect(allMutants.map((mutant) => `${mutant.original}, ${mutant.what}: ${verdicts.get(mutant)?.status}`)).toEqual([
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
  expect(new Set(survivors)).toEqual(
    new Set(allMutants.filter((mutant) => verdicts.get(mutant)?.status === 'survived')),
  );
  expect(survivors).toHaveLength(3);
  // This spec runs for mutants that no other spec kills. The spec fails, but its failure changes no verdict.
  expect(failedSpecs).toEqual([expect.stringContaining('no-test.timed.ts')]);
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
