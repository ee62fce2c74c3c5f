// Writes docs/errors.md from the error catalogue: node tools/docs/errors-page.ts. A spec fails when the page is stale.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CREDENTIAL_ERROR_HELP } from '../../libs/contracts/src/error-help/credential-errors.ts';
import type { ErrorHelp } from '../../libs/contracts/src/error-help/error-help.ts';
import { PAYMENT_ERROR_HELP } from '../../libs/contracts/src/error-help/payment-errors.ts';
import { REQUEST_ERROR_HELP } from '../../libs/contracts/src/error-help/request-errors.ts';
import { ERROR_CATALOGUE, type ErrorCode } from '../../libs/contracts/src/errors.ts';

export const ERRORS_PAGE = join(import.meta.dirname, '../../docs/errors.md');

const HELP: Readonly<Record<ErrorCode, ErrorHelp>> = {
  ...PAYMENT_ERROR_HELP,
  ...REQUEST_ERROR_HELP,
  ...CREDENTIAL_ERROR_HELP,
};
const CODES = Object.keys(ERROR_CATALOGUE) as ErrorCode[];

export function formatErrorsPage(): string {
  const rows = CODES.map((code) => {
    const { errorReference, httpStatus, retryable, message } = ERROR_CATALOGUE[code];
    return `| ${errorReference} | [\`${code}\`](#${headingAnchor(code)}) | ${httpStatus} | ${retryable ? 'yes' : 'no'} | ${message} |`;
  });
  return `# Errors

Generated from \`libs/contracts/src/errors.ts\` and \`error-help\` beside it by \`node tools/docs/errors-page.ts\`. Customers quote
the reference to support, and programs branch on the code. The status is the HTTP status of the response to a refused request. A failed
payment is not a refused request: it is stored with its error, and the response is a success. "Again": the same request may succeed
later.

Every error response has the code in the header \`x-error-code\`, and links to the page that explains the error, in the header
\`Link: <…>; rel="help"\` and in \`type\` of a problem. The envelope of the hosted gateway has no field for them, and an empty 401 has no
body, so these have only the headers. The platform
serves these pages at \`{base_url}/errors\` (with \`./svc up\` http://127.0.0.1:7300/errors), with the text below. They are for people,
not for programs.

| Reference | Code | Status | Again | Message |
|---|---|---|---|---|
${rows.join('\n')}
${CODES.map(formatSection).join('')}`;
}

function formatSection(code: ErrorCode): string {
  const { meaning, steps, repeat, where } = HELP[code];
  return `
## ${code}

${meaning}

${steps.map(([cause, step]) => `- ${cause} → ${step}`).join('\n')}

Repeat the request? ${repeat}

Where: ${where}
`;
}

/** The anchor that GitHub derives from a heading. */
function headingAnchor(code: string): string {
  return code.replaceAll('.', '');
}

if (import.meta.main) writeFileSync(ERRORS_PAGE, formatErrorsPage());
