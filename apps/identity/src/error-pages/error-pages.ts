/**
 * The help pages of errors (ADR 60): a page for each error code of the catalogue, and a list of all pages. The pages
 * are static HTML without scripts. They are rendered when the service starts and contain no data of a request.
 */
import { createHash } from 'node:crypto';
import { ERROR_CATALOGUE, ERROR_HELP, ERROR_PAGES_PATH, type ErrorCode } from '@svc/contracts';

const STYLE = [
  ':root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}',
  'main{max-width:44rem;margin:2rem auto;padding:0 1rem}',
  'h1{overflow-wrap:anywhere}',
  'table{border-collapse:collapse;width:100%}',
  'th,td{text-align:left;vertical-align:top;padding:.4rem .75rem .4rem 0;border-bottom:1px solid #8888}',
  'code{font:.9em ui-monospace,monospace;overflow-wrap:anywhere}',
].join('');

/** The Content-Security-Policy. It allows only the style sheet of these pages. */
export const ERROR_PAGE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

const CODES = Object.keys(ERROR_CATALOGUE) as ErrorCode[];

const PAGES: ReadonlyMap<string, string> = new Map(CODES.map((code) => [code, renderPage(code)]));

/** The page of an error code. Undefined for an unknown code. */
export function findErrorPage(code: string): string | undefined {
  return PAGES.get(code);
}

function renderPage(code: ErrorCode): string {
  const { errorReference, httpStatus, message } = ERROR_CATALOGUE[code];
  const { meaning, steps, repeat, where } = ERROR_HELP[code];
  const rows = steps.map(([cause, step]) => `<tr><td>${toHtml(cause)}</td><td>${toHtml(step)}</td></tr>`);
  return renderDocument(code, [
    `<h1><code>${code}</code></h1><p><strong>${toHtml(message)}</strong></p>`,
    `<h2>What it means</h2><p>${toHtml(meaning)}</p>`,
    '<h2>What to do</h2><table><thead><tr><th scope="col">Cause</th><th scope="col">Step</th></tr></thead>',
    `<tbody>${rows.join('')}</tbody></table>`,
    `<h2>Does it help to repeat the request?</h2><p>${toHtml(repeat)}</p>`,
    `<h2>Where it occurs</h2><p>${toHtml(where)}</p>`,
    `<p>HTTP status of a rejected request: ${httpStatus}. Reference for support: ${errorReference}.</p>`,
    `<p><a href="${ERROR_PAGES_PATH}">All errors</a></p>`,
  ]);
}

export const ERROR_LIST_PAGE = renderDocument('Errors', [
  '<h1>Errors</h1><p>Programs branch on the code, never on the message.</p>',
  '<table><thead><tr><th scope="col">Code</th><th scope="col">Status</th><th scope="col">Message</th></tr></thead><tbody>',
  ...CODES.map((code) => {
    const { httpStatus, message } = ERROR_CATALOGUE[code];
    const link = `<a href="${ERROR_PAGES_PATH}/${code}"><code>${code}</code></a>`;
    return `<tr><td>${link}</td><td>${httpStatus}</td><td>${toHtml(message)}</td></tr>`;
  }),
  '</tbody></table>',
]);

function renderDocument(title: string, parts: readonly string[]): string {
  return [
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title>`,
    `<meta name="viewport" content="width=device-width, initial-scale=1"><style>${STYLE}</style></head>`,
    `<body><main>${parts.join('\n')}</main></body></html>\n`,
  ].join('');
}

/** Converts text of the catalogue to HTML. Text between backticks becomes a `code` element. */
function toHtml(text: string): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return escaped.replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}
