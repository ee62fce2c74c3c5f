import { LoadedStatements } from './loaded-statements.ts';

/** The numbers are holes: places where the template literal has a `${…}`. */
const statements = new LoadedStatements([
  {
    site: 'x.ts#1',
    original: ['SELECT (a) FROM ', 0, ' WHERE mode = $1 AND b IN (', 1, ')'],
    mutants: {
      'x.ts#1.1': ['SELECT (a) FROM ', 0, ' WHERE ', '(mode = $1 OR TRUE)', ' AND b IN (', 1, ')'],
      'x.ts#1.2': ['SELECT (a) FROM ', 0, ' WHERE mode = $1'],
    },
  },
]);
const SENT = 'WITH x AS (SELECT (a) FROM t WHERE mode = $1 AND b IN (1, 2)) SELECT 1';

it('LoadedStatements finds the sites in a statement', () => {
  expect(statements.findSites(SENT)).toEqual(['x.ts#1']);
  // The second call shows that the regular expression starts at the beginning again.
  expect(statements.findSites(SENT)).toEqual(['x.ts#1']);
  expect(statements.findSites('SELECT (a) FROM t WHERE mode = $2')).toEqual([]);
});

it('LoadedStatements applies a mutant to a statement and leaves the values of its holes unchanged', () => {
  expect(statements.applyMutant(SENT, 'x.ts#1.1')).toBe(SENT.replace('mode = $1', '(mode = $1 OR TRUE)'));
  expect(statements.applyMutant(SENT, 'x.ts#1.2')).toBe('WITH x AS (SELECT (a) FROM t WHERE mode = $1) SELECT 1');
});

it('LoadedStatements does not change a statement that does not contain the site of the mutant', () => {
  expect(statements.applyMutant('SELECT 1', 'x.ts#1.1')).toBeUndefined();
  expect(statements.applyMutant(SENT, 'x.ts#2.1')).toBeUndefined();
});

it('LoadedStatements matches named parameters with their numbers, and uses the numbers in the mutant', () => {
  const namedStatements = new LoadedStatements([
    {
      site: 'x.ts#1',
      original: ['UPDATE t SET at = $now WHERE id = $id', 0, ' AND version = $version AND due < $now'],
      mutants: {
        'x.ts#1.1': ['UPDATE t SET at = $now WHERE id = $id', 0, ' AND version <= $version AND due < $now'],
        'x.ts#1.2': ['UPDATE t SET at = $now WHERE id = $id', 0, ' AND due < $now'],
      },
    },
  ]);
  const sent = 'WITH a AS (UPDATE t SET at = $2 WHERE id = $1 AND b AND version = $13 AND due < $2) SELECT $3';
  expect(namedStatements.findSites(sent)).toEqual(['x.ts#1']);
  expect(namedStatements.applyMutant(sent, 'x.ts#1.1')).toBe(sent.replace('version = $13', 'version <= $13'));
  expect(namedStatements.applyMutant(sent, 'x.ts#1.2')).toBe(sent.replace(' AND version = $13', ''));
  expect(namedStatements.findSites(sent.replace('due < $2', 'due < $3'))).toEqual([]);
});
