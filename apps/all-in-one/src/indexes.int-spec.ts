/** Compares docs/indexes.md with the indexes in the databases of all services. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { newDataSource } from '@svc/persistence';
import { newMigratedDatabase } from '@svc/testing';
import { SERVICES } from './services.js';

const PAGE = readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs', 'indexes.md'), 'utf8');

interface Index {
  readonly table: string;
  readonly index: string;
  /** An index that begins with the same columns, if this one is neither unique nor partial: this one is redundant. */
  readonly covered: string | null;
}

/** Without primary keys, and without the indexes of partitions, which belong to the index of the parent table. */
const INDEXES = `
  SELECT i.indrelid::regclass::text AS "table", i.indexrelid::regclass::text AS "index",
         (SELECT min(o.indexrelid::regclass::text) FROM pg_index o
           WHERE o.indrelid = i.indrelid AND o.indexrelid <> i.indexrelid AND NOT i.indisunique
             AND i.indpred IS NULL AND o.indpred IS NULL AND i.indexprs IS NULL
             AND o.indkey::text || ' ' LIKE i.indkey::text || ' %') AS covered
    FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid
   WHERE t.relnamespace = current_schema()::regnamespace AND NOT t.relispartition AND NOT i.indisprimary`;

async function indexesOf(definition: (typeof SERVICES)[number]): Promise<Index[]> {
  const database = await newMigratedDatabase(definition);
  const dataSource = await newDataSource({ url: database.url, applicationName: 'indexes' }).initialize();
  try {
    return await dataSource.query<Index[]>(INDEXES);
  } finally {
    await dataSource.destroy();
    await database.drop();
  }
}

/** `table index` for each index of the page; a row without a table belongs to the table above. */
function listed(): string[] {
  let table = '';
  return [...PAGE.matchAll(/^\| ([^|]*?) *\| (`[^|]*?) *\|[^|]*\|$/gm)].flatMap(([, first, indexes]) => {
    table = /`(\w+)`/.exec(first!)?.[1] ?? table;
    return [...indexes!.matchAll(/`(\w+)`/g)].map(([, index]) => `${table} ${index}`);
  });
}

test('every index is documented with its purpose, and none is a prefix of another', async () => {
  const indexes: Index[] = [];
  for (const service of SERVICES) indexes.push(...(await indexesOf(service)));
  const there = new Set(indexes.map(({ table, index }) => `${table} ${index}`));
  expect(listed().sort()).toEqual([...there].sort());
  expect(indexes.filter(({ covered }) => covered !== null)).toEqual([]);
});
