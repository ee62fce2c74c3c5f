import {
  type ColumnMap,
  excludedColumns,
  insertedColumns,
  recordColumns,
  recordValues,
  selectedColumns,
  toRecord,
} from './column-map.js';

const COLUMNS = { siteId: ['site_id', 'bigint'], mode: ['mode', 'text'] } as const satisfies ColumnMap;

test('a record contains the members of the map, and no other members', () => {
  expect(toRecord(COLUMNS, { siteId: 1, mode: undefined, other: 2 } as never)).toStrictEqual({
    siteId: 1,
    mode: undefined,
  });
});

test('a map is converted to the lists of columns of each kind of statement', () => {
  expect(recordColumns(COLUMNS)).toBe('"siteId" bigint, "mode" text');
  expect(insertedColumns(COLUMNS)).toBe('site_id, mode');
  expect(recordValues(COLUMNS, 'item')).toBe('item."siteId", item."mode"');
  expect(excludedColumns(COLUMNS)).toBe('site_id = excluded.site_id, mode = excluded.mode');
  expect(selectedColumns(COLUMNS)).toBe('site_id AS "siteId", mode AS "mode"');
  expect(selectedColumns(COLUMNS, 's')).toBe('s.site_id AS "siteId", s.mode AS "mode"');
});
