import fc from 'fast-check';
import { isSql, sqlMutations } from './sql-mutations.ts';

/** The whole statement with each mutation. A guard is a condition on owner, mode, version, state, lease or expiry. */
function listMutatedStatements(sql: string): string[] {
  return sqlMutations(sql, []).map(({ start, end, replacement }) => sql.slice(0, start) + replacement + sql.slice(end));
}
/** `guard: change` of each mutation. */
function listChanges(sql: string): string[] {
  return sqlMutations(sql, []).map(({ original, change }) => `${original}: ${change}`);
}

it('sqlMutations drops each guard of WHERE but not its parameter, and does not drop a comparison of a key', () => {
  expect(listMutatedStatements('SELECT x FROM s WHERE s.id = $1 AND s.site_id = $2 AND mode = $3')).toEqual([
    'SELECT x FROM s WHERE s.id = $1 AND (s.site_id = $2 OR TRUE) AND mode = $3',
    'SELECT x FROM s WHERE s.id = $1 AND s.site_id = $2 AND (mode = $3 OR TRUE)',
  ]);
});

it.each([
  [
    'JOIN',
    'SELECT 1 FROM a JOIN b ON b.id = a.id AND b.mode = a.mode LEFT JOIN c ON true',
    ['b.mode = a.mode: always true'],
  ],
  [
    'HAVING',
    'SELECT a FROM b GROUP BY a HAVING max(version) = 1',
    ['max(version) = 1: always true', ...boundaryChanges('max(version) = 1')],
  ],
  ['FILTER', `SELECT count(*) FILTER (WHERE state = 'open') AS n FROM a`, [`state = 'open': always true`]],
  ['DELETE', `DELETE FROM a WHERE NOT revoked`, ['NOT revoked: always true']],
  [
    'a subquery',
    'SELECT (SELECT n FROM s WHERE s.site_id = c.site_id) AS n FROM c',
    ['s.site_id = c.site_id: always true'],
  ],
  [
    'a part of a statement',
    'AND (txid, position) > ($1, $2)',
    ['(txid, position) > ($1, $2): always true', '(txid, position) > ($1, $2): > becomes >='],
  ],
  [
    'a literal that is only an expression',
    'merchant_id = $1',
    ['merchant_id = $1: always true', 'merchant_id = $1: always false'],
  ],
])('sqlMutations finds the guards of %s', (_, sql, expected) => {
  expect(listChanges(sql).toSorted()).toEqual(expected.toSorted());
});

function boundaryChanges(original: string): string[] {
  return [`${original}: = becomes <=`, `${original}: = becomes >=`];
}

it('sqlMutations mutates the condition of DO UPDATE, but not the index predicate of ON CONFLICT', () => {
  const sql = `INSERT INTO t AS k (a) VALUES ($1) ON CONFLICT (site_id, mode) WHERE state = 'open'
    DO UPDATE SET version = excluded.version, state = excluded.state WHERE k.version < excluded.version RETURNING state`;
  expect(listChanges(sql)).toEqual([
    'k.version < excluded.version: always true',
    'k.version < excluded.version: < becomes <=',
  ]);
});

it('sqlMutations mutates the predicate of an index, but not the name after ON in CREATE INDEX, CREATE TRIGGER and COMMENT', () => {
  const sql = `CREATE UNIQUE INDEX one_open ON t (state) WHERE state = 'open';
    CREATE TRIGGER t_version BEFORE UPDATE ON t (version) EXECUTE FUNCTION check_version();
    COMMENT ON COLUMN t.state IS 'open or closed';
    DELETE FROM t USING a JOIN b ON b.mode = a.mode WHERE t.id = a.id`;
  expect(listChanges(sql)).toEqual([`state = 'open': always true`, 'b.mode = a.mode: always true']);
});

it('sqlMutations does not mutate an assignment, also not after a CASE', () => {
  const sql = `UPDATE t SET state = 'x', closed_at = CASE WHEN told.state = 'y' THEN $1 END, version = version + 1, lease_id = NULL WHERE id = $2`;
  expect(listChanges(sql)).toEqual([`told.state = 'y': always true`, `told.state = 'y': always false`]);
});

it('sqlMutations makes each alternative of OR always false, and all alternatives together always true', () => {
  expect(listMutatedStatements('DELETE FROM t WHERE a = 1 AND (site_id IS NULL OR site_id = $1)')).toEqual([
    'DELETE FROM t WHERE a = 1 AND ((site_id IS NULL OR site_id = $1) OR TRUE)',
    'DELETE FROM t WHERE a = 1 AND ((site_id IS NULL AND FALSE) OR site_id = $1)',
    'DELETE FROM t WHERE a = 1 AND (site_id IS NULL OR (site_id = $1 AND FALSE))',
  ]);
});

it('sqlMutations makes conditions in a list of results always true and always false', () => {
  const sql = `SELECT coalesce(leased_until > $2, false) AS leased, id AS key, snapshot->>'state' = 'failed' AS failed FROM t`;
  expect(listChanges(sql)).toEqual([
    'leased_until > $2: always true',
    'leased_until > $2: always false',
    'leased_until > $2: > becomes >=',
    `snapshot->>'state' = 'failed': always true`,
    `snapshot->>'state' = 'failed': always false`,
  ]);
});

it('sqlMutations omits each value of a list', () => {
  expect(listMutatedStatements(`SELECT 1 FROM t WHERE state IN ('a', 'b','c')`).slice(1).toSorted()).toEqual(
    [
      `SELECT 1 FROM t WHERE state IN ('b','c')`,
      `SELECT 1 FROM t WHERE state IN ('a','c')`,
      `SELECT 1 FROM t WHERE state IN ('a', 'b')`,
    ].toSorted(),
  );
});

it('sqlMutations omits the later keys of ORDER BY, except column numbers', () => {
  expect(listMutatedStatements('SELECT a FROM t ORDER BY made_at DESC, id DESC NULLS LAST LIMIT 1')).toEqual([
    'SELECT a FROM t ORDER BY made_at DESC LIMIT 1',
  ]);
  expect(listMutatedStatements('SELECT sum(a) OVER (ORDER BY b, c) FROM t GROUP BY d, e ORDER BY 1, 2')).toEqual([
    'SELECT sum(a) OVER (ORDER BY b) FROM t GROUP BY d, e ORDER BY 1, 2',
  ]);
});

it('sqlMutations understands BETWEEN, IS DISTINCT FROM, the words of row locks, and CASE with an expression', () => {
  expect(listChanges('SELECT 1 FROM t WHERE expires_at BETWEEN $1 AND $2 AND id = 1')).toEqual([
    'expires_at BETWEEN $1 AND $2: always true',
  ]);
  expect(listChanges('SELECT 1 FROM t WHERE site_id IS NOT DISTINCT FROM $1 FOR UPDATE SKIP LOCKED')).toEqual([
    'site_id IS NOT DISTINCT FROM $1: always true',
  ]);
  expect(listChanges(`SELECT CASE state WHEN 'a' THEN 1 ELSE 2 END FROM t`)).toEqual([]);
});

it('sqlMutations does not extend a predicate into the hole that follows it', () => {
  const sql = 'SELECT 1 FROM t WHERE mode = $1 ${more} ORDER BY a';
  const start = sql.indexOf('${');
  expect(sqlMutations(sql, [{ start, end: start + 7 }]).map(({ original }) => original)).toEqual(['mode = $1']);
});

it('isSql distinguishes SQL from other texts', () => {
  expect(['SELECT 1 FROM t', 'AND a = 1', 'y.payable_id = $2', 'a IS NULL OR b'].map(isSql)).toEqual(
    Array(4).fill(true),
  );
  expect(['and so on', 'state = open', 'Choose SELECT', '', 'ANDROID'].map(isSql)).toEqual(Array(5).fill(false));
});

const predicate = fc.constantFrom(
  'site_id = $1',
  'mode <> $2',
  'leased_until > $3',
  'NOT revoked',
  `state IN ('a', 'b')`,
  'id = $4',
);
/** Predicates joined by AND and OR, some of them in parentheses, which are nested up to `depth` levels. */
function conditions(depth: number): fc.Arbitrary<string> {
  const inner =
    depth === 0
      ? predicate
      : fc.oneof(
          predicate,
          conditions(depth - 1).map((nested) => `(${nested})`),
        );
  const part = fc
    .tuple(fc.boolean(), inner)
    .map(([isNot, text]) => (isNot && text.startsWith('(') ? `NOT ${text}` : text));
  const joined = (parts: fc.Arbitrary<string>, word: string) =>
    fc.array(parts, { minLength: 1, maxLength: 3 }).map((texts) => texts.join(word));
  return joined(joined(part, ' AND '), ' OR ');
}

function isBalanced(text: string): boolean {
  let depth = 0;
  for (const character of text) {
    if (character === '(') depth++;
    if (character === ')' && --depth < 0) return false;
  }
  return depth === 0;
}

it('each mutation of sqlMutations changes the statement, but keeps its parameters and balanced parentheses', () => {
  let mutationCount = 0;
  fc.assert(
    fc.property(conditions(1), (text) => {
      const sql = `SELECT a FROM t WHERE ${text} ORDER BY a, b LIMIT 1`;
      for (const { start, end, replacement, original } of sqlMutations(sql, [])) {
        mutationCount++;
        const mutant = sql.slice(0, start) + replacement + sql.slice(end);
        expect(mutant).not.toBe(sql);
        expect(sql.replaceAll(/\s+/g, ' ')).toContain(original.replace('ORDER BY ', ''));
        expect(mutant.match(/\$\d/g)).toEqual(sql.match(/\$\d/g));
        expect(isBalanced(mutant)).toBe(true);
      }
    }),
  );
  expect(mutationCount).toBeGreaterThan(300);
});
