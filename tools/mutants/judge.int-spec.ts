import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Judge } from './judge.ts';
import { findMutants } from './mutations/find-mutants.ts';

const root = join(import.meta.dirname, '..', '..');
const FILE = 'tools/mutants/fixtures/apps/shop/src/orders.repository.ts';

it('a mutant survives if no spec fails with it', async () => {
  const judge = new Judge(root, [FILE]);
  const env = { SVC_TEST_DATABASE_URLS: process.env['SVC_TEST_DATABASE_URLS']! };
  const verdicts: string[] = [];
  for (const mutant of findMutants(FILE, readFileSync(join(root, FILE), 'utf8')))
    verdicts.push(`${mutant.original}: ${(await judge.survives(mutant, env)) ? 'survives' : 'killed'}`);
  expect(judge.needsPostgres).toBe(true);
  expect(verdicts).toEqual([`merchant_id = $2: killed`, `state = 'open': survives`, 'mode = $1: killed']);
});
