/**
 * Which migrations a database has had, in one look: to load every service only to find that there is nothing to do takes two
 * seconds. The database itself says it, in its comment, so a new or a restored one is not mistaken for the one before.
 */
import { createHash } from 'node:crypto';
import { globSync } from 'node:fs';
import pg from 'pg';
import { schemaOf } from './env-files.ts';
import { SERVICES } from './settings.ts';

/** Names the migrations there are. What one of them says never changes. */
export function migrationsDigest(root: string): string {
  const files = globSync('{apps,libs}/*/src/**/migrations/*.ts', { cwd: root }).filter(
    (file) => !file.endsWith('-spec.ts'),
  );
  return createHash('sha256').update(files.sort().join('\n')).digest('hex');
}

/** Whether every schema there is has had exactly these. A schema that was dropped has none. */
export async function isMigrated(databaseUrl: string, digest: string): Promise<boolean> {
  return withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<{ said: string | null; schemas: number }>(
      `SELECT shobj_description((SELECT oid FROM pg_database WHERE datname = current_database()), 'pg_database') AS said,
              (SELECT count(*)::int FROM pg_tables WHERE tablename = 'migrations' AND schemaname = ANY ($1)) AS schemas`,
      [SERVICES.map(schemaOf)],
    );
    return rows[0]?.said === sentence(digest) && rows[0].schemas === SERVICES.length;
  });
}

/** To be called when all of them have run. */
export async function noteMigrated(databaseUrl: string, digest: string): Promise<void> {
  await withClient(databaseUrl, async (client) => {
    const name = client.escapeIdentifier(client.database ?? '');
    await client.query(`COMMENT ON DATABASE ${name} IS ${client.escapeLiteral(sentence(digest))}`);
  });
}

function sentence(digest: string): string {
  return `Schemas of Svc Payments, migrated by ./svc: ${digest}`;
}

async function withClient<T>(databaseUrl: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}
