import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { extractRequestSchemas } from '../../../test/published-interface.js';
import { REQUEST_SCHEMAS } from './request-schemas.js';

const FILE = join(import.meta.dirname, 'request-schemas.ts');

test('the schemas of requests are those of Adyen’s OpenAPI document (SVC_WRITE_SCHEMAS=1 writes them)', () => {
  const schemas = extractRequestSchemas();
  const isWriting = process.env['SVC_WRITE_SCHEMAS'] === '1';
  if (isWriting) writeFileSync(FILE, renderSchemas(schemas));
  expect(isWriting ? schemas : REQUEST_SCHEMAS).toEqual(schemas);
});

function renderSchemas(schemas: Readonly<Record<string, string>>): string {
  const lines = Object.entries(schemas).map(([name, text]) => `  ${name}: ${quote(text)},\n`);
  return `// Made by request-schemas.spec.ts from ../../../adyen/CheckoutService-v71.json. Do not edit.

/** JSON Schemas of requests and their parts, as text. */
export const REQUEST_SCHEMAS: Readonly<Record<string, string>> = {
${lines.join('')}};
`;
}

function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
