import { parseSqlErrors } from './sql-error-log.ts';

it('parseSqlErrors returns each error of an invalid statement in the log once', () => {
  const log = [
    '2026-01-01 [1] a@b ERROR:  42601: syntax error at or near "OR" at character 7',
    '2026-01-01 [1] a@b STATEMENT:  SELECT OR',
    '2026-01-01 [1] a@b ERROR:  42601: syntax error at or near "OR" at character 7',
    '2026-01-01 [1] a@b ERROR:  42501: permission denied for table sessions',
    '2026-01-01 [1] a@b ERROR:  23505: duplicate key value violates unique constraint "x"',
  ].join('\n');
  expect(parseSqlErrors(log)).toEqual(['42601: syntax error at or near "OR" at character 7']);
});
