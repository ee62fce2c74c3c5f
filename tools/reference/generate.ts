/**
 * Generates the reference from the code: `node tools/reference/generate.ts` writes docs/reference and the schemas of
 * messages. With `--release` it also writes docs/reference/released, the last released version. `npm run check` fails
 * on stale files, on the linter's problems, and on changes that break the released version.
 */
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AUDIENCES } from './audiences.ts';
import { findBreakingChanges } from './compare.ts';
import type { Examples } from './document.ts';
import { createOpenApiDocument } from './document.ts';
import { ENDPOINTS_MODULE, formatEndpointsModule } from './endpoints.ts';
import { createEventsDocument } from './events.ts';
import { lint } from './lint.ts';
import { messageSchemaFiles, SCHEMA_FOLDER } from './message-schemas.ts';
import { findOperations } from './source/operations.ts';
import type { Source } from './source/program.ts';
import { readSource, root } from './source/program.ts';

const FOLDER = join(root, 'docs/reference');
const EXAMPLES = join(FOLDER, 'examples.json');

/** The contents of the documents by file name. */
export function generate(source: Source): Map<string, string> {
  const operations = findOperations(source);
  const examples = existsSync(EXAMPLES) ? (JSON.parse(readFileSync(EXAMPLES, 'utf8')) as Examples) : {};
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const documents: [string, object][] = AUDIENCES.map((audience) => [
    `${audience.name}.openapi.json`,
    createOpenApiDocument(audience, { operations, source, examples, version }),
  ]);
  documents.push(['events.asyncapi.json', createEventsDocument(source, version)]);
  return new Map(documents.map(([file, document]) => [file, `${JSON.stringify(document, null, 2)}\n`]));
}

/** The problems of the committed files, for `npm run check`. */
export async function findReferenceProblems(): Promise<string[]> {
  const source = readSource();
  const problems: string[] = [];
  for (const [file, text] of generate(source)) {
    if (isStale(join(FOLDER, file), text)) problems.push(`docs/reference/${file} is stale: ${COMMAND}`);
    problems.push(...(await lint(`docs/reference/${file}`, text)));
    problems.push(...findBreaksOfRelease(file, text));
  }
  problems.push(...findStaleSchemas(messageSchemaFiles(source)));
  if (isStale(join(root, ENDPOINTS_MODULE), formatEndpointsModule(findOperations(source))))
    problems.push(`${ENDPOINTS_MODULE} is stale: ${COMMAND}`);
  return problems;
}

const COMMAND = 'node tools/reference/generate.ts';

function findStaleSchemas(files: ReadonlyMap<string, string>): string[] {
  const stale = [...files].filter(([file, text]) => isStale(join(root, file), text)).map(([file]) => file);
  return [...stale, ...findSchemasWithoutType(files)].map((file) => `${file} is stale: ${COMMAND}`);
}

/** Schemas of types that are no longer declared. */
function findSchemasWithoutType(files: ReadonlyMap<string, string>): string[] {
  return globSync(`${SCHEMA_FOLDER}/*/*.schema.json`, { cwd: root }).filter((file) => !files.has(file));
}

function isStale(path: string, text: string): boolean {
  return !existsSync(path) || readFileSync(path, 'utf8') !== text;
}

const RELEASED = join(FOLDER, 'released');

function findBreaksOfRelease(file: string, text: string): string[] {
  const released = join(RELEASED, file);
  if (!existsSync(released)) return [];
  const parse = (json: string): Record<string, unknown> => JSON.parse(json) as Record<string, unknown>;
  return findBreakingChanges(parse(readFileSync(released, 'utf8')), parse(text)).map(
    (change) => `docs/reference/${file} breaks the released version: ${change}`,
  );
}

/** Removes texts and examples, which a comparison does not need. */
function removeTexts(text: string): string {
  const isText = (key: string, value: unknown): boolean =>
    ['description', 'summary', 'title'].includes(key) && typeof value === 'string';
  const reviver = (key: string, value: unknown): unknown =>
    isText(key, value) || key === 'example' ? undefined : value;
  return `${JSON.stringify(JSON.parse(text, reviver))}\n`;
}

if (import.meta.main) {
  const source = readSource();
  mkdirSync(RELEASED, { recursive: true });
  for (const [file, text] of generate(source)) {
    writeFileSync(join(FOLDER, file), text);
    if (process.argv.includes('--release')) writeFileSync(join(RELEASED, file), removeTexts(text));
  }
  writeFileSync(join(root, ENDPOINTS_MODULE), formatEndpointsModule(findOperations(source)));
  const schemas = messageSchemaFiles(source);
  for (const file of findSchemasWithoutType(schemas)) rmSync(join(root, file));
  for (const [file, text] of schemas) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
}
