import type { DataSource } from 'typeorm';

interface TableColumn {
  name: string;
  type: string;
  nullable: boolean;
}

/**
 * Returns the differences between the entities and the migrated tables. The list is empty if there is no difference.
 * Migrations create the schema, and entities only describe it, so only this check finds a column that is missing in the
 * migrations or in an entity.
 */
export async function columnDrift(dataSource: DataSource): Promise<string[]> {
  const drift: string[] = [];
  for (const { tableName, columns } of dataSource.entityMetadatas) {
    const entityColumns = columns.map((column) => ({
      name: column.databaseName,
      type: dataSource.driver.normalizeType(column) + (column.isArray ? '[]' : ''),
      nullable: column.isNullable,
    }));
    drift.push(...differences(tableName, entityColumns, await columnsOf(dataSource, tableName)));
  }
  return drift;
}

function differences(table: string, entityColumns: TableColumn[], tableColumns: TableColumn[]): string[] {
  const migratedByName = new Map(tableColumns.map((column) => [column.name, column]));
  const differentColumns = entityColumns.flatMap((column) => {
    const found = migratedByName.get(column.name);
    migratedByName.delete(column.name);
    if (found && found.type === column.type && found.nullable === column.nullable) return [];
    return [
      `${table}.${column.name}: entity ${describeColumn(column)}, table ${found ? describeColumn(found) : 'without it'}`,
    ];
  });
  return [...differentColumns, ...[...migratedByName.keys()].map((name) => `${table}.${name}: not in the entity`)];
}

function describeColumn({ type, nullable }: TableColumn): string {
  return nullable ? `${type} or null` : type;
}

/** Columns in the first schema of the search path that has the table. Empty if no such table exists. */
function columnsOf(dataSource: DataSource, table: string): Promise<TableColumn[]> {
  return dataSource.query(
    `SELECT attname AS name, format_type(atttypid, NULL) AS type, NOT attnotnull AS nullable
       FROM pg_attribute WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
    [`"${table}"`],
  );
}
