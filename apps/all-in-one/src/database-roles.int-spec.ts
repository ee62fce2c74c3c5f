/** Privileges of each service's database role on its tables (ADR 45), after all migrations. */
import { newDataSource } from '@svc/persistence';
import { newMigratedDatabase } from '@svc/testing';
import { SERVICES } from './services.js';

interface Table {
  readonly name: string;
  readonly privileges: readonly string[];
  readonly isPartition: boolean;
  /** Whether the table has a trigger that refuses TRUNCATE. Only append-only tables have one. */
  readonly isAppendOnly: boolean;
  readonly isOwned: boolean;
}

const TABLES = `
  SELECT c.relname AS name, c.relispartition AS "isPartition", c.relowner = me.oid AS "isOwned",
         EXISTS (SELECT FROM pg_trigger WHERE tgrelid = c.oid AND tgtype & 32 <> 0) AS "isAppendOnly",
         ARRAY(SELECT given FROM unnest('{SELECT,INSERT,UPDATE,DELETE,TRUNCATE,REFERENCES,TRIGGER}'::text[]) given
                WHERE has_table_privilege(c.oid, given)) AS privileges
    FROM pg_class c, (SELECT oid FROM pg_roles WHERE rolname = current_user) me
   WHERE c.relkind IN ('r', 'p') AND c.relnamespace = current_schema()::regnamespace ORDER BY c.relname`;

describe.each(SERVICES.map((service) => [service.name, service] as const))(
  'the database role of %s',
  (_name, service) => {
    let tables: Table[];
    let canCreateTables: boolean;
    let functionsWithoutSearchPath: unknown[];
    beforeAll(async () => {
      const database = await newMigratedDatabase(service);
      const dataSource = await newDataSource({
        url: database.url,
        applicationName: 'database-roles-test',
      }).initialize();
      tables = await dataSource.query<Table[]>(TABLES);
      [{ mayCreate: canCreateTables }] = await dataSource.query<[{ mayCreate: boolean }]>(
        `SELECT has_schema_privilege(current_schema(), 'CREATE') OR rolsuper AS "mayCreate" FROM pg_roles WHERE rolname = current_user`,
      );
      // A SECURITY DEFINER function without a fixed search_path would use the caller's search_path.
      functionsWithoutSearchPath = await dataSource.query<unknown[]>(
        `SELECT proname AS name FROM pg_proc WHERE prosecdef AND pronamespace = current_schema()::regnamespace
          AND NOT coalesce(array_to_string(proconfig, ';'), '') LIKE 'search_path=%, pg_temp'`,
      );
      await dataSource.destroy();
      await database.drop();
    });

    test('owns no table and cannot create tables', () => {
      expect(tables.length).toBeGreaterThan(0);
      expect(tables.filter(({ isOwned }) => isOwned)).toEqual([]);
      expect(canCreateTables).toBe(false);
    });

    test('can only read and insert in append-only tables, can change other tables, and cannot use partitions', () => {
      // A statement on a partitioned table needs privileges only on the parent table.
      const expected = tables.map(({ name, isPartition, isAppendOnly }) => {
        if (isPartition) return [name, []];
        if (name === 'migrations') return [name, ['SELECT']];
        return [name, ['SELECT', 'INSERT', ...(isAppendOnly || name === 'event_log' ? [] : ['UPDATE', 'DELETE'])]];
      });
      expect(tables.map(({ name, privileges }) => [name, privileges])).toEqual(expected);
    });

    test('can call only SECURITY DEFINER functions that have a fixed search_path', () =>
      expect(functionsWithoutSearchPath).toEqual([]));
  },
);
