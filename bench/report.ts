/** The results of the benchmark, and their formats: text for the terminal, and Markdown. */

export interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** A measured value and its promised bound: a maximum or a minimum. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly promised: number;
  /** `least` (default): the value must be at least the bound. `most`: the value must be at most the bound. */
  readonly direction?: 'least' | 'most';
}

export interface Section {
  readonly title: string;
  readonly tables: readonly Table[];
  readonly figures: readonly Figure[];
  /** Reasons why the results are not valid, such as records that do not agree. */
  readonly problems: readonly string[];
  /** All measured values, for report.json. */
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

export function toText({ tables, figures, problems }: Section): string {
  const parts = tables.map((table) => `${table.title}\n${alignColumns([table.columns, ...table.rows])}`);
  if (figures.length > 0) parts.push(alignColumns(figures.map(toFigureRow)));
  if (problems.length > 0) parts.push(`VOID:\n${problems.join('\n')}`);
  return parts.join('\n\n');
}

export function toMarkdown({ measuredAt, commit, machine, command, sections }: Report): string {
  const head = `# Benchmark\n\n\`${command}\` at ${commit}, ${measuredAt}, on ${machine}.\n`;
  return [head, ...sections.map(toMarkdownSection)].join('\n');
}

function toMarkdownSection({ title, tables, figures, problems }: Section): string {
  const parts = [`## ${title}`];
  if (problems.length > 0) parts.push(`**Void**: ${problems.join('; ')}`);
  for (const table of tables) parts.push(`### ${table.title}`, toMarkdownTable([table.columns, ...table.rows]));
  if (figures.length > 0)
    parts.push(toMarkdownTable([['Figure', 'Measured', 'Promised', ''], ...figures.map(toFigureRow)]));
  return `${parts.join('\n\n')}\n`;
}

function toFigureRow({ name, value, unit, promised, direction = 'least' }: Figure): string[] {
  const isKept = direction === 'least' ? value >= promised : value <= promised;
  const bound = `at ${direction} ${promised} ${unit}`.trim();
  return [name, `${toThreeDigits(value)} ${unit}`.trim(), bound, isKept ? 'holds' : 'FALLS SHORT'];
}

/** Three significant digits. */
export function toThreeDigits(value: number): string {
  if (!Number.isFinite(value)) return '–';
  return Math.abs(value) >= 100 ? value.toFixed(0) : Number(value.toPrecision(3)).toString();
}

function alignColumns(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  return rows
    .map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column]!)).join('  ')}`.trimEnd())
    .join('\n');
}

function toMarkdownTable([head, ...rows]: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head!), line(head!.map(() => '---')), ...rows.map(line)].join('\n');
}
