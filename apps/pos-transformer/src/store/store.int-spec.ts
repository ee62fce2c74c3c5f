import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { SCHEMA_STEPS } from './schema.js';
import { Store } from './store.js';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-pos-'));
  file = join(folder, 'data', 'transformer.sqlite');
});
afterEach(() => rmSync(folder, { recursive: true }));

const ALERT = `INSERT INTO alerts (site_id, till, at, message) VALUES (1, '', '', :message)`;
const countAlerts = (store: Store): number => store.find<{ n: number }>('SELECT count(*) AS n FROM alerts')!.n;

it('T8: only the owner may read the file of the store, and every commit is on disk', () => {
  const store = new Store(file);
  expect([statSync(file).mode & 0o777, statSync(`${file}-wal`).mode & 0o777]).toEqual([0o600, 0o600]);
  expect(store.find('PRAGMA journal_mode')).toEqual({ journal_mode: 'wal' });
  // SQLite reports FULL as 2.
  expect(store.find('PRAGMA synchronous')).toEqual({ synchronous: 2 });
  expect(store.find('PRAGMA foreign_keys')).toEqual({ foreign_keys: 1 });
  store.close();
});

it('transaction() commits all writes, or none if the function throws', () => {
  const store = new Store(file);
  expect(() =>
    store.transaction((tx) => {
      tx.run(ALERT, { message: 'lost' });
      throw new Error('failed after the first write');
    }),
  ).toThrow('failed after the first write');
  expect(countAlerts(store)).toBe(0);
  expect(store.transaction((tx) => tx.run(ALERT, { message: 'kept' }))).toEqual({ id: 1, changes: 1 });
  store.close();
  const reopenedStore = new Store(file);
  expect(countAlerts(reopenedStore)).toBe(1);
  reopenedStore.close();
});

it('the store runs the missing schema steps, and refuses a file of a later release', () => {
  new Store(file).close();
  const database = new DatabaseSync(file);
  expect(database.prepare('PRAGMA user_version').get()).toEqual({ user_version: SCHEMA_STEPS.length });
  database.exec(`PRAGMA user_version = ${SCHEMA_STEPS.length + 1}`);
  database.close();
  expect(() => new Store(file)).toThrow('The database is of a later release');
});

it('the store enforces foreign keys', () => {
  const store = new Store(file);
  expect(() => store.transaction((tx) => tx.run(`INSERT INTO lines VALUES (7, 1, 1, '{}')`))).toThrow('FOREIGN KEY');
  store.close();
});
