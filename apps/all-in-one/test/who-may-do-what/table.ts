import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Lines of cells, of which the first is the header, as Markdown. An endpoint is named once. */
export function tableOf(header: readonly string[], lines: readonly string[][]): string {
  const rows = lines.map((line, index) => [
    line[0] === lines[index - 1]?.[0] ? '' : `\`${line[0]}\``,
    ...line.slice(1),
  ]);
  return [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** Fails unless docs/who-may-do-what.md has each of these tables. */
export function expectDocumented(tables: readonly string[]): void {
  const documented = readFileSync(join(import.meta.dirname, '../../../../docs/who-may-do-what.md'), 'utf8');
  for (const table of tables) expect(withoutPadding(documented)).toContain(withoutPadding(table));
}

const withoutPadding = (text: string): string => text.replace(/ +/g, ' ').replace(/-{3,}/g, '---');
