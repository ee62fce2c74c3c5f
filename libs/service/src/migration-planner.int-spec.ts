import { Module } from '@nestjs/common';
import { newTestDatabase } from '@svc/testing';
import pg from 'pg';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { migrateService, ServiceConfig } from './index.js';

@Module({})
class EmptyModule {}

/** A migration that stores the settings with which it runs. */
class Planner1763500000999 implements MigrationInterface {
  readonly name = 'Planner1763500000999';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `CREATE TABLE planner AS SELECT name, setting FROM pg_settings
       WHERE name IN ('enable_hashjoin', 'enable_seqscan', 'plan_cache_mode', 'statement_timeout', 'lock_timeout')`,
    );
  }

  down(): Promise<void> {
    return Promise.reject(new Error('forward only'));
  }
}

test('a migration has the default planner settings, because it may join whole tables, and its own limits', async () => {
  const database = await newTestDatabase();
  const client = new pg.Client({ connectionString: database.url });
  try {
    const definition = { name: 'migrated', config: ServiceConfig, module: EmptyModule };
    await migrateService({ ...definition, migrations: [Planner1763500000999] }, { SVC_DATABASE_URL: database.url });
    await client.connect();
    const { rows } = await client.query('SELECT name, setting FROM planner ORDER BY name');
    expect(rows).toEqual([
      { name: 'enable_hashjoin', setting: 'on' },
      { name: 'enable_seqscan', setting: 'on' },
      // 5 s, and 25 min: less than the deadline of the Job (deploy/manifests.spec.ts).
      { name: 'lock_timeout', setting: '5000' },
      { name: 'plan_cache_mode', setting: 'auto' },
      { name: 'statement_timeout', setting: '1500000' },
    ]);
  } finally {
    await client.end();
    await database.drop();
  }
});
