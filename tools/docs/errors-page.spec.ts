import { readFileSync } from 'node:fs';
import { ERRORS_PAGE, formatErrorsPage } from './errors-page.js';

test('docs/errors.md matches the catalogue (node tools/docs/errors-page.ts)', () => {
  expect(readFileSync(ERRORS_PAGE, 'utf8')).toBe(formatErrorsPage());
});
