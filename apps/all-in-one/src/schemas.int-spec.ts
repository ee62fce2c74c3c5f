/**
 * Compares the `schema.sql` of each service with its tables, functions and triggers after all migrations. The test runs
 * only on the oldest supported PostgreSQL, because the output of pg_dump differs between versions. To regenerate the
 * files:
 *
 *     SVC_WRITE_SCHEMAS=1 ./svc test --selectProjects postgres-15 --testPathPatterns apps/all-in-one/src/schemas
 */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { newMigratedDatabase } from '@svc/testing';
import { SERVICES } from './services.js';

/** pg_dump of the oldest supported PostgreSQL, where Debian installs it. */
const PG_DUMP = '/usr/lib/postgresql/15/bin/pg_dump';
const APPS = join(import.meta.dirname, '../..');
const HEADER =
  '-- Made by apps/all-in-one/src/schemas.int-spec.ts from all migrations, to be read. Do not run or edit it. In production the schema is named for the service.';
/** Lines of pg_dump that are comments or session settings. */
const OMITTED_LINES = /^(--|\\(un)?restrict |SET |SELECT pg_catalog\.set_config)/;

test.each(SERVICES.map((service) => [service.name, service] as const))(
  'schema.sql of %s matches its migrations',
  async (name, service) => {
    const file = join(APPS, name, 'schema.sql');
    const schema = await dumpSchema(service);
    if (process.env['SVC_WRITE_SCHEMAS'] === '1') writeFileSync(file, schema);
    expect(readFileSync(file, 'utf8')).toBe(schema);
  },
);

async function dumpSchema(service: (typeof SERVICES)[number]): Promise<string> {
  const database = await newMigratedDatabase(service);
  try {
    const args = ['--schema-only', '--no-owner', '--no-comments', database.superuserUrl];
    const { stdout } = await promisify(execFile)(PG_DUMP, args, { maxBuffer: 16 * 1024 * 1024 });
    const lines = stdout.split('\n').filter((line) => !OMITTED_LINES.test(line));
    const text = lines.join('\n').replaceAll('tested_', 'svc_').replaceAll('public.', '');
    return `${HEADER}\n\n${text.replaceAll(/\n{3,}/g, '\n\n').trim()}\n`;
  } finally {
    await database.drop();
  }
}
