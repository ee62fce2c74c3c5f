import pg from 'pg';

/** More different texts than this are not kept prepared: something then writes values into its statements. */
const STATEMENTS_MAX = 500;

const names = new Map<string, string>();

/**
 * A connection that parses and plans each statement with parameters once, and from then on only runs it. Where an
 * insert goes into a partitioned table, planning costs several times what running it does.
 *
 * A statement's text is written once and never put together from values, so there are as many as the code has.
 */
export class PreparingClient extends pg.Client {
  override query = ((text: unknown, values: unknown, callback: unknown) => {
    const name = typeof text === 'string' && Array.isArray(values) && values.length > 0 ? nameOf(text) : undefined;
    const query = name === undefined ? text : { name, text };
    return super.query(query as string, values as unknown[], callback as never);
  }) as pg.Client['query'];
}

function nameOf(text: string): string | undefined {
  const known = names.get(text);
  if (known !== undefined || names.size >= STATEMENTS_MAX) return known;
  const name = `s${names.size + 1}`;
  names.set(text, name);
  return name;
}
