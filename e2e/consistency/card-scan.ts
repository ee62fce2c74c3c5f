/**
 * Looks for a card number in files and tables, in every form in which a bug could have stored it.
 * A scan without findings proves something only if it finds a planted number.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';

/** The texts that contain a card number: plain, grouped, hexadecimal, as a list of bytes, in a UUID, and as base64. */
export function encodingsOf(cardNumber: string): string[] {
  const bytes = Buffer.from(cardNumber);
  return [
    cardNumber,
    cardNumber.replace(/(\d{4})(?=\d)/g, '$1 '),
    cardNumber.replace(/(\d{4})(?=\d)/g, '$1-'),
    bytes.toString('hex'),
    [...bytes].join(','),
    asUuid(cardNumber),
    asUuid(bytes.toString('hex')),
    ...base64EncodingsOf(cardNumber),
  ];
}

/** A UUID that begins with these digits, in PostgreSQL's format. */
function asUuid(digits: string): string {
  return [digits.slice(0, 8), digits.slice(8, 12), digits.slice(12, 16), digits.slice(16, 20), digits.slice(20)]
    .filter((group) => group !== '')
    .join('-');
}

/**
 * The number in base64, once for each of its three offsets within a group of three bytes. Characters that depend on the
 * number's neighbours are cut off. Digits never become `+` or `/`, so base64url is the same.
 */
export function base64EncodingsOf(text: string): string[] {
  return [0, 1, 2].map((before) => {
    const encoded = Buffer.from('\0'.repeat(before) + text)
      .toString('base64')
      .replace(/=+$/, '');
    const first = [0, 2, 3][before]!;
    const whole = Math.floor(((before + text.length) * 8) / 6);
    return encoded.slice(first, whole);
  });
}

/** Lists the files below a folder that contain one of the card numbers, with the form that was found. */
export function scanFiles(folder: string, cardNumbers: readonly string[]): string[] {
  const needles = cardNumbers.flatMap((cardNumber) => encodingsOf(cardNumber)).map((form) => Buffer.from(form));
  const found: string[] = [];
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, name);
    const content = read(path);
    for (const needle of needles) if (content?.includes(needle)) found.push(`${name}: ${needle.toString()}`);
  }
  return found;
}

function read(path: string): Buffer | undefined {
  try {
    return statSync(path).isFile() ? readFileSync(path) : undefined;
  } catch (error) {
    // A running server removes files between listing and reading.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

export interface Table {
  /** Quoted, with its schema. */
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly type: string }[];
}

/**
 * Lists every table of our schemas. Instead of a partitioned table, it lists the partitions, because they have the
 * rows.
 */
export async function listTables(client: pg.Client): Promise<Table[]> {
  const { rows } = await client.query<Table>(
    `SELECT format('%I.%I', n.nspname, c.relname) AS name,
            jsonb_agg(jsonb_build_object('name', quote_ident(a.attname), 'type', format_type(a.atttypid, NULL)) ORDER BY a.attnum) AS columns
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     WHERE c.relkind = 'r' AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'
     GROUP BY n.nspname, c.relname ORDER BY 1`,
  );
  return rows;
}

/** Lists the tables in which a row contains one of the card numbers. */
export async function scanTables(
  client: pg.Client,
  tables: readonly Table[],
  cardNumbers: readonly string[],
): Promise<string[]> {
  const found: string[] = [];
  for (const { name } of tables) if ((await countRowsWith(client, name, cardNumbers)) > 0) found.push(name);
  return found;
}

/** Counts the rows of a table that contain one of the card numbers. */
export async function countRowsWith(
  client: pg.Client,
  tableName: string,
  cardNumbers: readonly string[],
): Promise<number> {
  const forms = cardNumbers.flatMap((cardNumber) => encodingsOf(cardNumber)).map((form) => `%${form}%`);
  const { rows } = await client.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM ${tableName} AS t WHERE t::text LIKE ANY ($1)`,
    [forms],
  );
  return rows[0]!.count;
}
