import type { DataSource } from 'typeorm';

/** Runs what is missing, in order, each migration in a transaction of its own. Returns the names of those run. */
export async function migrate(dataSource: DataSource): Promise<string[]> {
  const ran = await dataSource.runMigrations({ transaction: 'each' });
  return ran.map((migration) => migration.name);
}
