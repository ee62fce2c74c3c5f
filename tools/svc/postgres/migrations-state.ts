/**
 * Detects whether migrations are needed, without loading the services, which takes two seconds. The comment of the
 * database contains a digest of the migrations, and the number of migrations that have run. A new database has no
 * comment. In a restored backup, another number of migrations has run.
 */
import { createHash } from 'node:crypto';
import { globSync } from 'node:fs';
import { withClient } from './provision.ts';

/** A digest of the file names: the content of a migration never changes. */
export function migrationsDigest(root: string): string {
  const files = globSync('{apps,libs}/*/src/**/migrations/*.ts', { cwd: root }).filter(
    (file) => !file.endsWith('-spec.ts'),
  );
  return createHash('sha256').update(files.sort().join('\n')).digest('hex');
}

interface Databases {
  readonly superuserUrl: string;
  /** Logins as the schemas’ owners. If an owner replaces its table by a view, the view must not run as superuser. */
  readonly ownerUrls: readonly string[];
}

/** Whether every schema has exactly these migrations. */
export async function isMigrated({ superuserUrl, ownerUrls }: Databases, digest: string): Promise<boolean> {
  const count = await countMigrations(ownerUrls);
  if (count === undefined) return false;
  const comment = await withClient(superuserUrl, async (client) => {
    const { rows } = await client.query<{ comment: string | null }>(
      `SELECT shobj_description(oid, 'pg_database') AS comment FROM pg_database WHERE datname = current_database()`,
    );
    return rows[0]?.comment;
  });
  return comment === formatComment(digest, count);
}

/** Records that all migrations have run. */
export async function markMigrated({ superuserUrl, ownerUrls }: Databases, digest: string): Promise<void> {
  const count = await countMigrations(ownerUrls);
  if (count === undefined) throw new Error('A schema has no table of migrations, although they have run.');
  await withClient(superuserUrl, async (client) => {
    const name = client.escapeIdentifier(client.database ?? '');
    await client.query(`COMMENT ON DATABASE ${name} IS ${client.escapeLiteral(formatComment(digest, count))}`);
  });
}

/** Undefined when a schema has no table of migrations, because the schema is new or was dropped. */
async function countMigrations(ownerUrls: readonly string[]): Promise<number | undefined> {
  const counts = await Promise.all(
    ownerUrls.map((url) =>
      withClient(url, async (client) => {
        const { rows: tables } = await client.query<{ name: string | null }>(
          `SELECT to_regclass('migrations') AS name`,
        );
        if (tables[0]?.name === null) return NaN;
        const { rows } = await client.query<{ count: string }>('SELECT count(*) FROM migrations');
        return Number(rows[0]?.count);
      }),
    ),
  );
  const sum = counts.reduce((total, count) => total + count, 0);
  return Number.isNaN(sum) ? undefined : sum;
}

function formatComment(digest: string, count: number): string {
  return `Schemas of Svc Payments, ${count} migrations run by ./svc: ${digest}`;
}
