/**
 * Builds the web pages of the reference: `node tools/reference/site.ts` writes apps/identity/dist/reference-pages from
 * docs/reference and Swagger UI. It is a part of every build (tools/svc/install/build.ts, docker/steps/build.sh), and
 * needs no compiled code.
 */
import { globSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { readText, writeAtomically } from '../svc/base/files.ts';

const root = join(import.meta.dirname, '../..');
const PAGES_FOLDER = join(root, 'apps/identity/dist/reference-pages');
const READABLE_BY_ALL = 0o644;

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

/**
 * Writes only files whose content has changed, each of them atomically, because a running service may read the folder
 * meanwhile. Keeps the temporary files (`.new`) of a concurrent build.
 */
export function writeSite(folder = PAGES_FOLDER): void {
  const site = createSite();
  mkdirSync(folder, { recursive: true });
  for (const [name, content] of site) {
    const file = join(folder, name);
    if (readText(file) !== content) writeAtomically(file, content, READABLE_BY_ALL);
  }
  for (const name of readdirSync(folder)) if (!site.has(name) && extname(name) !== '.new') rmSync(join(folder, name));
}

/** Returns the content of each file, by the file's name. */
function createSite(): Map<string, string> {
  const site = new Map<string, string>();
  const copied = [
    ...globSync('docs/reference/*.{openapi,asyncapi}.json', { cwd: root }),
    ...globSync('tools/reference/page/*', { cwd: root }),
    'node_modules/swagger-ui-dist/swagger-ui.css',
    'node_modules/swagger-ui-dist/swagger-ui-bundle.js',
    'node_modules/swagger-ui-dist/LICENSE',
    'node_modules/swagger-ui-dist/NOTICE',
    'node_modules/swagger-ui-dist/swagger-ui-bundle.js.LICENSE.txt',
  ];
  for (const file of copied) site.set(basename(file), readFileSync(join(root, file), 'utf8'));
  for (const [file, title] of PAGES)
    site.set(
      `${file}.html`,
      formatPage(title, file, `<div id="reference" data-document="/reference/${file}.openapi.json"></div>`),
    );
  const contents = PAGES.map(
    ([file, title, content]) =>
      `<li><a href="/reference/${file}.html">${title}</a>: ${content} (<a href="/reference/${file}.openapi.json">OpenAPI 3.1</a>)</li>`,
  );
  const events = '<li>Events between services (<a href="/reference/events.asyncapi.json">AsyncAPI 3.0</a>)</li>';
  const index = `<main class="contents"><h1>Svc Payments: reference</h1><ul>${contents.join('')}${events}</ul></main>`;
  site.set('index.html', formatPage('Reference', 'index', index));
  return site;
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
