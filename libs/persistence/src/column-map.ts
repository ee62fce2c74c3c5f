/**
 * The columns of a table that a service writes and reads as JSON objects: for each property of the object, its column
 * and the column's type. The map is the only list of the columns, so a new column is one line. Every statement of the
 * table is built from the map with the functions below.
 */
export type ColumnMap<Property extends string = string> = Readonly<
  Record<Property, readonly [column: string, type: string]>
>;

const mapColumns = (map: ColumnMap, toText: (property: string, column: string, type: string) => string): string =>
  Object.entries(map)
    .map(([property, [column, type]]) => toText(property, column, type))
    .join(', ');

/** The members of a row that the map contains. PostgreSQL reads the row with {@link recordColumns}. */
export function toRecord<Property extends string>(
  map: ColumnMap<Property>,
  row: { readonly [Member in NoInfer<Property>]?: unknown },
): Record<string, unknown> {
  return Object.fromEntries((Object.keys(map) as Property[]).map((property) => [property, row[property]]));
}

/** The column definitions of `jsonb_to_recordset`: `"siteId" bigint, …`. */
export const recordColumns = (map: ColumnMap): string =>
  mapColumns(map, (property, _, type) => `"${property}" ${type}`);

/** The columns of `INSERT INTO`: `site_id, …`. */
export const insertedColumns = (map: ColumnMap): string => mapColumns(map, (_, column) => column);

/** The values of {@link insertedColumns}, from an alias of {@link recordColumns}: `item."siteId", …`. */
export const recordValues = (map: ColumnMap, alias: string): string =>
  mapColumns(map, (property) => `${alias}."${property}"`);

/** The columns of `ON CONFLICT DO UPDATE SET`: `site_id = excluded.site_id, …`. */
export const excludedColumns = (map: ColumnMap): string =>
  mapColumns(map, (_, column) => `${column} = excluded.${column}`);

/** The columns of `SELECT`, with the names of the properties: `site_id AS "siteId", …`. */
export const selectedColumns = (map: ColumnMap, alias?: string): string =>
  mapColumns(map, (property, column) => `${alias === undefined ? '' : `${alias}.`}${column} AS "${property}"`);
