import { readFileSync } from 'node:fs';
import { formatRefusalReasonsPage, REFUSAL_REASONS_PAGE } from './refusal-reasons-page.js';

test('docs/refusal-reasons.md matches the table of the adapter (node tools/docs/refusal-reasons-page.ts)', () => {
  expect(readFileSync(REFUSAL_REASONS_PAGE, 'utf8')).toBe(formatRefusalReasonsPage());
});
