/** What a part of the benchmark found, and how it is shown. */

export interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Lines over common points, drawn where Mermaid is. */
export interface Plot {
  readonly title: string;
  readonly x: { readonly label: string; readonly points: readonly string[] };
  readonly y: string;
  readonly lines: readonly (readonly number[])[];
}

/** A figure that was promised. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly promised: number;
  /** `most`: the value is to be at most that. */
  readonly direction?: 'least' | 'most';
}

export interface Section {
  readonly title: string;
  readonly tables: readonly Table[];
  readonly plots: readonly Plot[];
  readonly figures: readonly Figure[];
  /** Why figures do not count: books that did not agree. */
  readonly problems: readonly string[];
  /** Everything that was measured. */
  readonly data: unknown;
}

export interface Report {
  /** ISO 8601, UTC. */
  readonly measuredAt: string;
  readonly commit: string;
  readonly machine: string;
  readonly command: string;
  readonly sections: readonly Section[];
}

export function asText({ tables, figures, problems }: Section): string {
  const parts = tables.map((table) => `${table.title}\n${aligned([table.columns, ...table.rows])}`);
  if (figures.length > 0) parts.push(aligned(figures.map(figureRow)));
  if (problems.length > 0) parts.push(`VOID:\n${problems.join('\n')}`);
  return parts.join('\n\n');
}

export function asMarkdown({ measuredAt, commit, machine, command, sections }: Report): string {
  const head = `# Benchmark\n\n\`${command}\` at ${commit}, ${measuredAt}, on ${machine}.\n`;
  return [head, ...sections.map(sectionAsMarkdown)].join('\n');
}

function sectionAsMarkdown({ title, tables, plots, figures, problems }: Section): string {
  const parts = [`## ${title}`];
  if (problems.length > 0) parts.push(`**Void**: ${problems.join('; ')}`);
  for (const table of tables) parts.push(`### ${table.title}`, markdownTable([table.columns, ...table.rows]));
  if (figures.length > 0)
    parts.push(markdownTable([['Figure', 'Measured', 'Promised', ''], ...figures.map(figureRow)]));
  for (const plot of plots) parts.push(mermaid(plot));
  return `${parts.join('\n\n')}\n`;
}

function figureRow({ name, value, unit, promised, direction = 'least' }: Figure): string[] {
  const holds = direction === 'least' ? value >= promised : value <= promised;
  const bound = `at ${direction} ${promised} ${unit}`.trim();
  return [name, `${rounded(value)} ${unit}`.trim(), bound, holds ? 'holds' : 'FALLS SHORT'];
}

/** Three digits say enough. */
export function rounded(value: number): string {
  if (!Number.isFinite(value)) return '–';
  return Math.abs(value) >= 100 ? value.toFixed(0) : Number(value.toPrecision(3)).toString();
}

function aligned(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  return rows
    .map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column]!)).join('  ')}`.trimEnd())
    .join('\n');
}

function markdownTable([head, ...rows]: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head!), line(head!.map(() => '---')), ...rows.map(line)].join('\n');
}

function mermaid({ title, x, y, lines }: Plot): string {
  const series = lines.map((values) => `  line [${values.map(rounded).join(', ')}]`);
  const axis = x.points.map((point) => `"${point}"`).join(', ');
  return [
    '```mermaid',
    'xychart-beta',
    `  title "${title}"`,
    `  x-axis "${x.label}" [${axis}]`,
    `  y-axis "${y}"`,
    ...series,
    '```',
  ].join('\n');
}
