import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Formats a Markdown table. Of consecutive rows with the same endpoint, only the first contains the endpoint. */
export function toMarkdownTable(header: readonly string[], lines: readonly string[][]): string {
  const rows = lines.map((line, index) => [
    line[0] === lines[index - 1]?.[0] ? '' : `\`${line[0]}\``,
    ...line.slice(1),
  ]);
  return [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** Expects docs/who-may-do-what.md to contain each of these tables. */
export function expectDocumented(tables: readonly string[]): void {
  const documented = readFileSync(join(import.meta.dirname, '../../../../docs/who-may-do-what.md'), 'utf8');
  for (const table of tables) expect(withoutPadding(documented)).toContain(withoutPadding(table));
}

const withoutPadding = (text: string): string => text.replace(/ +/g, ' ').replace(/-{3,}/g, '---');
