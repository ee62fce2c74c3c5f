// Writes docs/errors.md from the error catalogue: node tools/docs/errors-page.ts. A spec refuses a page that is stale.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ERROR_CATALOGUE } from '../../libs/contracts/src/errors.ts';

export const ERRORS_PAGE = join(import.meta.dirname, '../../docs/errors.md');

export function errorsPage(): string {
  const rows = Object.entries(ERROR_CATALOGUE).map(
    ([code, { errorReference, httpStatus, retryable, message }]) =>
      `| ${errorReference} | \`${code}\` | ${httpStatus} | ${retryable ? 'yes' : 'no'} | ${message} |`,
  );
  return `# Errors

Made from \`libs/contracts/src/errors.ts\` by \`node tools/docs/errors-page.ts\`. The reference is what a customer quotes to
support; the code is what programs branch on; the status is that of an answer which refuses a request (a payment that
failed is a recorded payment with the error in it, and its answer is a success). "Again": the same request may succeed
later.

| Reference | Code | Status | Again | Message |
|---|---|---|---|---|
${rows.join('\n')}
`;
}

if (import.meta.main) writeFileSync(ERRORS_PAGE, errorsPage());
