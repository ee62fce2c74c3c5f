import { LoadedStatements } from './loaded-statements.ts';

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

it('finds the sites that a statement was made of', () => {
  expect(statements.sitesIn(SENT)).toEqual(['x.ts#1']);
  expect(statements.sitesIn(SENT)).toEqual(['x.ts#1']);
  expect(statements.sitesIn('SELECT (a) FROM t WHERE mode = $2')).toEqual([]);
});

it('puts a mutant into a statement and keeps what stood in the holes', () => {
  expect(statements.mutated(SENT, 'x.ts#1.1')).toBe(SENT.replace('mode = $1', '(mode = $1 OR TRUE)'));
  expect(statements.mutated(SENT, 'x.ts#1.2')).toBe('WITH x AS (SELECT (a) FROM t WHERE mode = $1) SELECT 1');
});

it('leaves other statements and other mutants alone', () => {
  expect(statements.mutated('SELECT 1', 'x.ts#1.1')).toBeUndefined();
  expect(statements.mutated(SENT, 'x.ts#2.1')).toBeUndefined();
});
