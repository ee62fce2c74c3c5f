import type { DataSource } from 'typeorm';

interface TableColumn {
  name: string;
  type: string;
  nullable: boolean;
}

/**
 * The differences between the entities and the migrated tables: the migrations create the schema and the entities only describe it,
 * so only this test finds a column that is missing in one of them. Empty when they agree.
 */
export async function columnDrift(dataSource: DataSource): Promise<string[]> {
  const drift: string[] = [];
  for (const { tableName, columns } of dataSource.entityMetadatas) {
    const described = columns.map((column) => ({
      name: column.databaseName,
      type: dataSource.driver.normalizeType(column) + (column.isArray ? '[]' : ''),
      nullable: column.isNullable,
    }));
    drift.push(...differences(tableName, described, await columnsOf(dataSource, tableName)));
  }
  return drift;
}

function differences(table: string, described: TableColumn[], migrated: TableColumn[]): string[] {
  const named = new Map(migrated.map((column) => [column.name, column]));
  const wrong = described.flatMap((column) => {
    const found = named.get(column.name);
    named.delete(column.name);
    if (found && found.type === column.type && found.nullable === column.nullable) return [];
    return [`${table}.${column.name}: entity ${words(column)}, table ${found ? words(found) : 'without it'}`];
  });
  return [...wrong, ...[...named.keys()].map((name) => `${table}.${name}: not in the entity`)];
}

function words({ type, nullable }: TableColumn): string {
  return nullable ? `${type} or null` : type;
}

/** Columns in the first schema of the search path that has the table; empty if no such table exists. */
function columnsOf(dataSource: DataSource, table: string): Promise<TableColumn[]> {
  return dataSource.query(
    `SELECT attname AS name, format_type(atttypid, NULL) AS type, NOT attnotnull AS nullable
       FROM pg_attribute WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
    [`"${table}"`],
  );
}
