import ts from 'typescript';
import { findMutants, instrument } from './catalogue.ts';

const FILE = 'apps/x/src/x.ts';

/**
 * Runs the instrumented source with an active mutant. Returns the result of `use`, and the sites that were evaluated.
 */
function runInstrumented<T>(
  source: string,
  active: string,
  use: (module: Record<string, never>) => T,
): { result: T; hits: string[] } {
  const { outputText } = ts.transpileModule(instrument(FILE, source), {
    compilerOptions: { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022 },
  });
  const hits: string[] = [];
  const exports = {} as Record<string, never>;
  // eslint-disable-next-line @typescript-eslint/no-implied-eval
  new Function('exports', '__svcMutants', outputText)(exports, { active, hit: (site: string) => hits.push(site) });
  return { result: use(exports), hits };
}

const GUARDS = `
export function mayPay(session: { mode: string; expiresAt: number }, key: { mode: string }, now: number): boolean {
  return session.mode === key.mode && now < session.expiresAt;
}
export const find = (table: string, site?: number) =>
  \`SELECT 1 FROM \${table} WHERE site_id = $1 AND \${site === 7 ? 'seven' : \`mode = $2 AND x = '\${site}'\`}\`;
export const open = (rows: { state: string }[]) => rows.filter((row) => ['open', 'reserved'].includes(row.state)).length;
`;

it('instrumented code behaves like the source when no mutant is active', () => {
  const { result, hits } = runInstrumented(GUARDS, '', (module) => {
    const call = module as Record<string, (...args: unknown[]) => unknown>;
    return [
      call['mayPay']!({ mode: 'test', expiresAt: 5 }, { mode: 'test' }, 4),
      call['mayPay']!({ mode: 'test', expiresAt: 5 }, { mode: 'test' }, 5),
      call['mayPay']!({ mode: 'test', expiresAt: 5 }, { mode: 'live' }, 4),
      call['find']!('t', 7),
      call['find']!('t', 8),
      call['open']!([{ state: 'open' }, { state: 'paid' }, { state: 'reserved' }]),
    ];
  });
  expect(result).toEqual([
    true,
    false,
    false,
    'SELECT 1 FROM t WHERE site_id = $1 AND seven',
    `SELECT 1 FROM t WHERE site_id = $1 AND mode = $2 AND x = '8'`,
    2,
  ]);
  expect(new Set(hits).size).toBe(6);
});

it('instrumented code applies only the mutant that is active when the expression is evaluated', () => {
  const mutants = findMutants(FILE, GUARDS);
  const outcomes = mutants.map(({ id, original, what }) => {
    const { result } = runInstrumented(GUARDS, id, (module) => {
      const call = module as Record<string, (...args: unknown[]) => unknown>;
      return [
        call['mayPay']!({ mode: 'test', expiresAt: 5 }, { mode: 'live' }, 4),
        call['mayPay']!({ mode: 'test', expiresAt: 5 }, { mode: 'test' }, 5),
        call['find']!('t', 8),
        call['open']!([{ state: 'reserved' }]),
      ].join();
    });
    return `${original} ${what} => ${result}`;
  });
  const sql = `SELECT 1 FROM t WHERE site_id = $1 AND mode = $2 AND x = '8'`;
  expect(outcomes).toEqual([
    `session.mode === key.mode always true => true,false,${sql},1`,
    `session.mode === key.mode always false => false,false,${sql},1`,
    `now < session.expiresAt always true => false,true,${sql},1`,
    `now < session.expiresAt always false => false,false,${sql},1`,
    `now < session.expiresAt < becomes <= => false,true,${sql},1`,
    `site_id = $1 always true => false,false,${sql.replace('site_id = $1', '(site_id = $1 OR TRUE)')},1`,
    `site === 7 always true => false,false,SELECT 1 FROM t WHERE site_id = $1 AND seven,1`,
    `site === 7 always false => false,false,${sql},1`,
    `mode = $2 always true => false,false,${sql.replace('mode = $2', '(mode = $2 OR TRUE)')},1`,
    `['open', 'reserved'].includes(row.state) always true => false,false,${sql},1`,
    `['open', 'reserved'].includes(row.state) always false => false,false,${sql},0`,
    `['open', 'reserved'].includes(row.state) without 'open' => false,false,${sql},1`,
    `['open', 'reserved'].includes(row.state) without 'reserved' => false,false,${sql},0`,
  ]);
});

it('findMutants omits each guard of TypeORM criteria, also in helper functions, but never all criteria of a change', () => {
  const source = `
    const ownedBy = 1;
    function ofOwner(owner) { return { merchantId: owner.merchantId, siteId: owner.siteId }; }
    tx.findOneBy(Row, { merchantId, siteId, keyId });
    tx.find(Row, { where: { ...ofOwner(owner), revokedAt: IsNull() }, order: { siteId: 'ASC' } });
    tx.update(Row, { siteId }, { mode: 'live' });
    tx.update(Row, { id, version: 3 }, { mode: 'live' });
    kept.delete({ siteId: 1 });
    hash.update(JSON.stringify({ mode }));`;
  expect(findMutants(FILE, source).map(({ original, what }) => `${original}: ${what}`)).toEqual([
    '{ merchantId: owner.merchantId, siteId: owner.siteId }: without merchantId: owner.merchantId',
    '{ merchantId: owner.merchantId, siteId: owner.siteId }: without siteId: owner.siteId',
    '{ merchantId, siteId, keyId }: without merchantId',
    '{ merchantId, siteId, keyId }: without siteId',
    '{ ...ofOwner(owner), revokedAt: IsNull() }: without ...ofOwner(owner)',
    '{ ...ofOwner(owner), revokedAt: IsNull() }: without revokedAt: IsNull()',
    '{ id, version: 3 }: without version: 3',
  ]);
});

it('findMutants returns no mutant for lengths, types, HTTP statuses and optional members', () => {
  const source = `
    if (sites.length > 3 || typeof siteId === 'string' || statusCode === 404 || status >= 500) x();
    const shown = { ...(siteId === undefined ? {} : { siteId }), at: until === null ? undefined : until };
    const name = found?.merchantName === other;`;
  expect(findMutants(FILE, source)).toEqual([]);
});

it('findMutants numbers equal guards of one function', () => {
  const source = 'function f() { return a.mode === b.mode || c(a.mode === b.mode); }';
  expect(findMutants(FILE, source).map(({ within, occurrence, line }) => [within, occurrence, line])).toEqual([
    ['f', 1, 1],
    ['f', 1, 1],
    ['f', 2, 1],
    ['f', 2, 1],
  ]);
});

it('findMutants returns the mutated statement with the numbers of its holes', () => {
  const source =
    'const KEEP = `UPDATE ${table} SET a = \\`b\\` WHERE ${table}.version = ${version} AND mode = $1 ${more}`;';
  const statements = findMutants(FILE, source).map(({ statement }) => statement!.mutated);
  expect(statements[0]).toEqual([
    'UPDATE ',
    0,
    ' SET a = `b` WHERE ',
    '(',
    '',
    1,
    '.version = ',
    2,
    '',
    ' OR TRUE)',
    ' AND mode = $1 ',
    3,
    '',
  ]);
});
