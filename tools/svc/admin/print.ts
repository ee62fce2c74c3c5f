/** What a command answered, for a person: a table, a list of members, or that it is done. */
export function printable(answer: unknown): string {
  if (Array.isArray(answer)) return answer.length === 0 ? 'none' : table(answer as Record<string, unknown>[]);
  if (typeof answer !== 'object' || answer === null) return 'done';
  const members = Object.entries(answer);
  const width = Math.max(...members.map(([name]) => name.length));
  return members.map(([name, value]) => `${name.padEnd(width)}  ${cell(value)}`).join('\n');
}

function table(rows: readonly Record<string, unknown>[]): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const lines = [names, ...rows.map((row) => names.map((name) => cell(row[name])))];
  const widths = names.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((text, column) => text.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** On one line, whatever it is: a name somebody chose must not move the cursor. */
function cell(value: unknown): string {
  if (value === undefined) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, '?');
}
