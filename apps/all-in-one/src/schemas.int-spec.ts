/**
 * The `schema.sql` of each service shows its tables, functions and triggers after all migrations.
 * SVC_WRITE_SCHEMAS=1 regenerates the files: `SVC_WRITE_SCHEMAS=1 ./svc test --selectProjects postgres-15 --testPathPatterns apps/all-in-one/src/schemas`.
 * On the oldest supported PostgreSQL only, because the output of pg_dump differs between versions.
 */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { newMigratedDatabase } from '@svc/testing';
import { SERVICES } from './services.js';

/** Path on Debian of the PostgreSQL version on which these tests run. */
const PG_DUMP = '/usr/lib/postgresql/15/bin/pg_dump';
const APPS = join(import.meta.dirname, '../..');
const HEADER =
  '-- Made by apps/all-in-one/src/schemas.int-spec.ts from all migrations, to be read. Do not run or edit it. In production the schema is named for the service.';
/** Comments and session settings of pg_dump. */
const NOT_OF_THE_SCHEMA = /^(--|\\(un)?restrict |SET |SELECT pg_catalog\.set_config)/;

test.each(SERVICES.map((service) => [service.name, service] as const))(
  'schema.sql of %s matches its migrations',
  async (name, service) => {
    const file = join(APPS, name, 'schema.sql');
    const schema = await schemaOf(service);
    if (process.env['SVC_WRITE_SCHEMAS'] === '1') writeFileSync(file, schema);
    expect(readFileSync(file, 'utf8')).toBe(schema);
  },
);

async function schemaOf(service: (typeof SERVICES)[number]): Promise<string> {
  const database = await newMigratedDatabase(service);
  try {
    const args = ['--schema-only', '--no-owner', '--no-comments', database.superuserUrl];
    const { stdout } = await promisify(execFile)(PG_DUMP, args, { maxBuffer: 16 * 1024 * 1024 });
    const lines = stdout.split('\n').filter((line) => !NOT_OF_THE_SCHEMA.test(line));
    const text = lines.join('\n').replaceAll('tested_', 'svc_').replaceAll('public.', '');
    return `${HEADER}\n\n${text.replaceAll(/\n{3,}/g, '\n\n').trim()}\n`;
  } finally {
    await database.drop();
  }
}
