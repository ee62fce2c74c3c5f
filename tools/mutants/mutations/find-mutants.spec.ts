import { applyMutant, findMutants } from './find-mutants.ts';

const SOURCE = `
export const find = (table: string, site?: number) =>
  \`SELECT 1 FROM \${table} WHERE site_id = $1 AND
    \${site === 7 ? 'seven' : \`mode = $2 AND x = '\${site}'\`}\`;
const KEEP = 'DELETE FROM t WHERE version = $1';
const mode = 'no SQL', expired = now < expiresAt;`;

it('findMutants finds the guards of statements, also of a fragment in a hole, with their lines', () => {
  expect(findMutants('x.ts', SOURCE).map(({ line, original, change }) => [line, original, change])).toEqual([
    [3, 'site_id = $1', 'always true'],
    [4, 'mode = $2', 'always true'],
    [5, 'version = $1', 'always true'],
    [5, 'version = $1', '= becomes <='],
    [5, 'version = $1', '= becomes >='],
  ]);
});

it('applyMutant changes only the guard', () => {
  expect(findMutants('x.ts', SOURCE).map((mutant) => applyMutant(SOURCE, mutant))).toEqual([
    SOURCE.replace('site_id = $1', '(site_id = $1 OR TRUE)'),
    SOURCE.replace('mode = $2', '(mode = $2 OR TRUE)'),
    SOURCE.replace('version = $1', '(version = $1 OR TRUE)'),
    SOURCE.replace('version = $1', 'version <= $1'),
    SOURCE.replace('version = $1', 'version >= $1'),
  ]);
});
