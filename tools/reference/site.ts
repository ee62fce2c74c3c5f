/**
 * Builds the web pages of the reference: `node tools/reference/site.ts` writes apps/identity/dist/reference-pages from
 * docs/reference and Swagger UI. It is a part of every build (tools/svc/install/build.ts, docker/steps/build.sh), and
 * needs no compiled code.
 */
import { cpSync, globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const PAGES_FOLDER = join(root, 'apps/identity/dist/reference-pages');

/** File, title and content of each page, in the order of the navigation. */
const PAGES: readonly (readonly [file: string, title: string, content: string])[] = [
  [
    'gateway',
    'Hosted gateway',
    'sessions, payments and the webhook of a shop that sends its payers to the hosted page',
  ],
  [
    'merchant',
    'Merchant',
    'payments, invoices, till codes, refunds, settlements, the stream and the webhook of a site',
  ],
  ['partner', 'Partner', 'log-in, customers, cards, codes, payments and their history'],
  ['transformer', 'Transformer', 'both protocols of tills, in a store'],
  ['administration', 'Administration', 'on-boarding and operation; on a private network only'],
];

export function writeSite(folder = PAGES_FOLDER): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const files = [
    ...globSync('docs/reference/*.{openapi,asyncapi}.json', { cwd: root }),
    ...globSync('tools/reference/page/*', { cwd: root }),
    'node_modules/swagger-ui-dist/swagger-ui.css',
    'node_modules/swagger-ui-dist/swagger-ui-bundle.js',
    'node_modules/swagger-ui-dist/LICENSE',
    'node_modules/swagger-ui-dist/NOTICE',
    'node_modules/swagger-ui-dist/swagger-ui-bundle.js.LICENSE.txt',
  ];
  for (const file of files) cpSync(join(root, file), join(folder, basename(file)));
  for (const [file, title] of PAGES)
    writeFileSync(
      join(folder, `${file}.html`),
      formatPage(title, file, `<div id="reference" data-document="/reference/${file}.openapi.json"></div>`),
    );
  const contents = PAGES.map(
    ([file, title, content]) =>
      `<li><a href="/reference/${file}.html">${title}</a>: ${content} (<a href="/reference/${file}.openapi.json">OpenAPI 3.1</a>)</li>`,
  );
  const events = '<li>Events between services (<a href="/reference/events.asyncapi.json">AsyncAPI 3.0</a>)</li>';
  const index = `<main class="contents"><h1>Svc Payments: reference</h1><ul>${contents.join('')}${events}</ul></main>`;
  writeFileSync(join(folder, 'index.html'), formatPage('Reference', 'index', index));
}

function formatPage(title: string, file: string, main: string): string {
  const links = PAGES.map(
    ([each, name]) => `<a href="/reference/${each}.html"${each === file ? ' aria-current="page"' : ''}>${name}</a>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Svc Payments</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/reference/swagger-ui.css">
<link rel="stylesheet" href="/reference/reference.css">
</head>
<body>
<nav aria-label="References"><a href="/reference">Svc Payments</a>${links.join('')}</nav>
${main}
${file === 'index' ? '' : '<script src="/reference/swagger-ui-bundle.js"></script><script src="/reference/reference.js"></script>'}
</body>
</html>
`;
}

if (import.meta.main) writeSite();
