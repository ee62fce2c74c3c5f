import type { DataSource } from 'typeorm';

/** Runs the missing migrations in order, each in its own transaction. Returns their names. */
export async function migrate(dataSource: DataSource): Promise<string[]> {
  const executed = await dataSource.runMigrations({ transaction: 'each' });
  return executed.map((migration) => migration.name);
}
