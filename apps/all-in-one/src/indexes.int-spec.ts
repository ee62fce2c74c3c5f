/** Compares docs/indexes.md with the indexes in the databases of all services. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { newDataSource } from '@svc/persistence';
import { newMigratedDatabase } from '@svc/testing';
import { SERVICES } from './services.js';

const DOCUMENT = readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs', 'indexes.md'), 'utf8');

interface Index {
  readonly table: string;
  readonly index: string;
  /**
   * Another index that begins with all columns of this index. Such an index makes this index redundant. Null if there
   * is none.
   */
  readonly coveredBy: string | null;
}

/** All indexes except primary keys and the indexes of partitions. A unique or partial index is never redundant. */
const INDEXES = `
  SELECT i.indrelid::regclass::text AS "table", i.indexrelid::regclass::text AS "index",
         (SELECT min(o.indexrelid::regclass::text) FROM pg_index o
           WHERE o.indrelid = i.indrelid AND o.indexrelid <> i.indexrelid AND NOT i.indisunique
             AND i.indpred IS NULL AND o.indpred IS NULL AND i.indexprs IS NULL
             AND o.indkey::text || ' ' LIKE i.indkey::text || ' %') AS "coveredBy"
    FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid
   WHERE t.relnamespace = current_schema()::regnamespace AND NOT t.relispartition AND NOT i.indisprimary`;

async function readIndexes(definition: (typeof SERVICES)[number]): Promise<Index[]> {
  const database = await newMigratedDatabase(definition);
  const dataSource = await newDataSource({ url: database.url, applicationName: 'indexes' }).initialize();
  try {
    return await dataSource.query<Index[]>(INDEXES);
  } finally {
    await dataSource.destroy();
    await database.drop();
  }
}

/** `table index` for each index in the document. A row without a table name belongs to the table of the row above. */
function documentedIndexes(): string[] {
  let table = '';
  return [...DOCUMENT.matchAll(/^\| ([^|]*?) *\| (`[^|]*?) *\|[^|]*\|$/gm)].flatMap(([, first, indexes]) => {
    table = /`(\w+)`/.exec(first!)?.[1] ?? table;
    return [...indexes!.matchAll(/`(\w+)`/g)].map(([, index]) => `${table} ${index}`);
  });
}

test('every index is documented with its purpose, and no index has only the first columns of another index', async () => {
  const indexes: Index[] = [];
  for (const service of SERVICES) indexes.push(...(await readIndexes(service)));
  const existing = new Set(indexes.map(({ table, index }) => `${table} ${index}`));
  expect(documentedIndexes().sort()).toEqual([...existing].sort());
  expect(indexes.filter(({ coveredBy }) => coveredBy !== null)).toEqual([]);
});
