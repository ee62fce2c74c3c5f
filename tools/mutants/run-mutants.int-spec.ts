import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openBaselineCache } from './baseline-cache.ts';
import { mutantsOf } from './catalogue.ts';
import { newLane } from './lanes.ts';
import type { Lane } from './lanes.ts';
import { runMutants } from './run-mutants.ts';

const root = join(import.meta.dirname, '..', '..');
const FOLDER = 'tools/mutants/fixtures/apps/shop/src';

let folder: string;
let lane: Lane;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mutants-'));
  lane = newLane(1, folder, '', () => process.env);
});
afterEach(() => {
  lane.stop();
  rmSync(folder, { recursive: true });
});

it('says of each guard whether a test fails without it, also of what is evaluated once or changes what comes after', async () => {
  const known = mutantsOf(root, `${FOLDER}/order.ts`);
  const specs = [`${FOLDER}/order.spec.ts`];
  const lanes = { all: [lane], startBroker: () => Promise.resolve(), stop: () => Promise.resolve() };
  const silent = { recorded: () => undefined, judged: () => undefined };
  const verdicts = await runMutants({ mutants: known, known, specs }, lanes, openBaselineCache(root, folder), silent);

  expect(known.map((mutant) => `${mutant.original}, ${mutant.what}: ${verdicts.get(mutant)?.is}`)).toEqual([
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
});
