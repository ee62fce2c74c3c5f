/** Privileges of each service's database role on its tables (ADR 45), after all migrations. */
import { newDataSource } from '@svc/persistence';
import { newMigratedDatabase } from '@svc/testing';
import { SERVICES } from './services.js';

interface Table {
  readonly name: string;
  readonly privileges: readonly string[];
  readonly isPartition: boolean;
  /** It has a trigger that refuses TRUNCATE, as append-only tables have. */
  readonly refusesChange: boolean;
  readonly owned: boolean;
}

const TABLES = `
  SELECT c.relname AS name, c.relispartition AS "isPartition", c.relowner = me.oid AS owned,
         EXISTS (SELECT FROM pg_trigger WHERE tgrelid = c.oid AND tgtype & 32 <> 0) AS "refusesChange",
         ARRAY(SELECT given FROM unnest('{SELECT,INSERT,UPDATE,DELETE,TRUNCATE,REFERENCES,TRIGGER}'::text[]) given
                WHERE has_table_privilege(c.oid, given)) AS privileges
    FROM pg_class c, (SELECT oid FROM pg_roles WHERE rolname = current_user) me
   WHERE c.relkind IN ('r', 'p') AND c.relnamespace = current_schema()::regnamespace ORDER BY c.relname`;

describe.each(SERVICES.map((service) => [service.name, service] as const))('%s', (_name, service) => {
  let tables: Table[];
  let mayCreate: boolean;
  let unfixed: unknown[];
  beforeAll(async () => {
    const database = await newMigratedDatabase(service);
    const dataSource = await newDataSource({ url: database.url, applicationName: 'roles' }).initialize();
    tables = await dataSource.query<Table[]>(TABLES);
    [{ mayCreate }] = await dataSource.query<[{ mayCreate: boolean }]>(
      `SELECT has_schema_privilege(current_schema(), 'CREATE') OR rolsuper AS "mayCreate" FROM pg_roles WHERE rolname = current_user`,
    );
    // A SECURITY DEFINER function without a fixed search_path would use the caller's search_path.
    unfixed = await dataSource.query<unknown[]>(
      `SELECT proname AS name FROM pg_proc WHERE prosecdef AND pronamespace = current_schema()::regnamespace
          AND NOT coalesce(array_to_string(proconfig, ';'), '') LIKE 'search_path=%, pg_temp'`,
    );
    await dataSource.destroy();
    await database.drop();
  });

  test('owns no table and may create none', () => {
    expect(tables.length).toBeGreaterThan(0);
    expect(tables.filter(({ owned }) => owned)).toEqual([]);
    expect(mayCreate).toBe(false);
  });

  test('may only insert into append-only tables, may write other tables, and uses partitions through their parents', () => {
    const expected = tables.map(({ name, isPartition, refusesChange }) => {
      if (isPartition) return [name, []];
      if (name === 'migrations') return [name, ['SELECT']];
      return [name, ['SELECT', 'INSERT', ...(refusesChange || name === 'event_log' ? [] : ['UPDATE', 'DELETE'])]];
    });
    expect(tables.map(({ name, privileges }) => [name, privileges])).toEqual(expected);
  });

  test('has no SECURITY DEFINER function without a fixed search_path', () => expect(unfixed).toEqual([]));
});
