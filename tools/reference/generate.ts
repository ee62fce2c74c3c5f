/**
 * The reference, made from the code: `node tools/reference/generate.ts` writes docs/reference. `npm run check` refuses files
 * that are stale, that a linter objects to, or that break what was released.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AUDIENCES } from './audiences.ts';
import { documentOf } from './document.ts';
import type { Examples } from './document.ts';
import { eventsDocument } from './events.ts';
import { lint } from './lint.ts';
import { operationsOf } from './operations.ts';
import { readSource, root } from './program.ts';

export const FOLDER = join(root, 'docs/reference');
const EXAMPLES = join(FOLDER, 'examples.json');

/** Contents by the name of the file. */
export function generate(): Map<string, string> {
  const source = readSource();
  const operations = operationsOf(source);
  const examples = existsSync(EXAMPLES) ? (JSON.parse(readFileSync(EXAMPLES, 'utf8')) as Examples) : {};
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const documents: [string, object][] = AUDIENCES.map((audience) => [
    `${audience.name}.openapi.json`,
    documentOf(audience, { operations, source, examples, version }),
  ]);
  documents.push(['events.asyncapi.json', eventsDocument(source, version)]);
  return new Map(documents.map(([file, document]) => [file, `${JSON.stringify(document, null, 2)}\n`]));
}

/** What is wrong with the committed files: `npm run check`. */
export async function referenceProblems(): Promise<string[]> {
  const problems: string[] = [];
  for (const [file, text] of generate()) {
    const path = join(FOLDER, file);
    if (!existsSync(path) || readFileSync(path, 'utf8') !== text)
      problems.push(`docs/reference/${file} is stale: node tools/reference/generate.ts`);
    problems.push(...(await lint(`docs/reference/${file}`, text)));
  }
  return problems;
}

if (import.meta.main) {
  mkdirSync(FOLDER, { recursive: true });
  for (const [file, text] of generate()) writeFileSync(join(FOLDER, file), text);
}
