import { newDataSource } from '@svc/persistence';
import { Column, type DataSource, Entity, PrimaryColumn } from 'typeorm';
import { columnDrift } from './column-drift.js';
import { newTestDatabase, type TestDatabase } from './test-database.js';

@Entity({ name: 'things' })
class ThingRow {
  @PrimaryColumn({ type: 'uuid', name: 'thing_id' })
  thingId: string;

  @Column({ type: 'bigint', name: 'amount_cents' })
  amountCents: number;

  @Column({ type: 'timestamptz', name: 'ended_at', nullable: true })
  endedAt: Date | null;

  @Column({ type: 'text', array: true })
  tags: string[];
}

let database: TestDatabase;
let dataSource: DataSource;
beforeEach(async () => {
  database = await newTestDatabase();
  dataSource = newDataSource({ url: database.url, applicationName: 'drift test', entities: [ThingRow] });
  await dataSource.initialize();
});
afterEach(async () => {
  await dataSource.destroy();
  await database.drop();
});

test('columnDrift returns nothing if entity and table have the same columns', async () => {
  await dataSource.query(`CREATE TABLE things (thing_id uuid PRIMARY KEY, amount_cents bigint NOT NULL CHECK (amount_cents > 0),
    ended_at timestamptz, tags text[] NOT NULL DEFAULT '{}')`);
  expect(await columnDrift(dataSource)).toEqual([]);
});

test('columnDrift returns each difference between entity and table', async () => {
  await dataSource.query(`CREATE TABLE things (thing_id uuid PRIMARY KEY, amount_cents int NOT NULL,
    ended_at timestamptz NOT NULL, note text)`);
  expect(await columnDrift(dataSource)).toEqual([
    'things.amount_cents: entity bigint, table integer',
    'things.ended_at: entity timestamp with time zone or null, table timestamp with time zone',
    'things.tags: entity text[], table without it',
    'things.note: not in the entity',
  ]);
});

test('columnDrift returns all columns if the table does not exist', async () => {
  expect(await columnDrift(dataSource)).toHaveLength(4);
});
