/**
 * Which migrations the database has had, in one look: to load every service only to find that there is nothing to do takes two
 * seconds. The database itself says it, in its comment, with how many had run by then: a new one has no comment, and a backup
 * that was restored into it has fewer. Used by `./svc up` and `nx serve`, before they migrate (database.ts).
 */
import { createHash } from 'node:crypto';
import { globSync } from 'node:fs';
import type pg from 'pg';
import { schemaOf } from './env-files.ts';
import { withClient } from './provision.ts';
import { SERVICES } from './settings.ts';

/** Names the migrations there are. What one of them says never changes. */
export function migrationsDigest(root: string): string {
  const files = globSync('{apps,libs}/*/src/**/migrations/*.ts', { cwd: root }).filter(
    (file) => !file.endsWith('-spec.ts'),
  );
  return createHash('sha256').update(files.sort().join('\n')).digest('hex');
}

/** Whether every schema has had exactly these. */
export async function isMigrated(databaseUrl: string, digest: string): Promise<boolean> {
  return withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<{ said: string | null; schemas: number }>(
      `SELECT shobj_description((SELECT oid FROM pg_database WHERE datname = current_database()), 'pg_database') AS said,
              (SELECT count(*)::int FROM pg_tables WHERE tablename = 'migrations' AND schemaname = ANY ($1)) AS schemas`,
      [SERVICES.map(schemaOf)],
    );
    // A schema that was dropped has no such table.
    if (rows[0]?.schemas !== SERVICES.length) return false;
    return rows[0].said === commentOf(digest, await countRun(client));
  });
}

/** To be called when all of them have run. */
export async function noteMigrated(databaseUrl: string, digest: string): Promise<void> {
  await withClient(databaseUrl, async (client) => {
    const name = client.escapeIdentifier(client.database ?? '');
    const comment = client.escapeLiteral(commentOf(digest, await countRun(client)));
    await client.query(`COMMENT ON DATABASE ${name} IS ${comment}`);
  });
}

async function countRun(client: pg.Client): Promise<number> {
  const counts = SERVICES.map((service) => `(SELECT count(*) FROM ${schemaOf(service)}.migrations)`);
  const { rows } = await client.query<{ run: string }>(`SELECT ${counts.join(' + ')} AS run`);
  return Number(rows[0]?.run);
}

function commentOf(digest: string, run: number): string {
  return `Schemas of Svc Payments, ${run} migrations run by ./svc: ${digest}`;
}
