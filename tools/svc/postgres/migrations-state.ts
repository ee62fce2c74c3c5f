/**
 * Which migrations the database has had, without loading the services: to load them only to find nothing to do takes
 * two seconds. The database itself says it, in its comment, with how many had run by then: a new one has no comment, and a backup
 * that was restored into it has fewer. Used before migrating (database.ts).
 */
import { createHash } from 'node:crypto';
import { globSync } from 'node:fs';
import { withClient } from './provision.ts';

/** Names the migrations there are. What one of them says never changes. */
export function migrationsDigest(root: string): string {
  const files = globSync('{apps,libs}/*/src/**/migrations/*.ts', { cwd: root }).filter(
    (file) => !file.endsWith('-spec.ts'),
  );
  return createHash('sha256').update(files.sort().join('\n')).digest('hex');
}

export interface Databases {
  readonly superuserUrl: string;
  /** Of each service, as its schema's owner. What a schema holds may be code, that of a view: no superuser reads it. */
  readonly ownerUrls: readonly string[];
}

/** Whether every schema has had exactly these. */
export async function isMigrated({ superuserUrl, ownerUrls }: Databases, digest: string): Promise<boolean> {
  const run = await countRun(ownerUrls);
  if (run === undefined) return false;
  const said = await withClient(superuserUrl, async (client) => {
    const { rows } = await client.query<{ said: string | null }>(
      `SELECT shobj_description(oid, 'pg_database') AS said FROM pg_database WHERE datname = current_database()`,
    );
    return rows[0]?.said;
  });
  return said === commentOf(digest, run);
}

/** To be called when all of them have run. */
export async function markMigrated({ superuserUrl, ownerUrls }: Databases, digest: string): Promise<void> {
  const run = await countRun(ownerUrls);
  if (run === undefined) throw new Error('A schema has no table of migrations, although they have run.');
  await withClient(superuserUrl, async (client) => {
    const name = client.escapeIdentifier(client.database ?? '');
    await client.query(`COMMENT ON DATABASE ${name} IS ${client.escapeLiteral(commentOf(digest, run))}`);
  });
}

/** Undefined when a schema has no table of them: it is new, or was dropped. */
async function countRun(ownerUrls: readonly string[]): Promise<number | undefined> {
  const counts = await Promise.all(
    ownerUrls.map((url) =>
      withClient(url, async (client) => {
        const { rows: tables } = await client.query<{ name: string | null }>(
          `SELECT to_regclass('migrations') AS name`,
        );
        if (tables[0]?.name === null) return undefined;
        const { rows } = await client.query<{ run: string }>('SELECT count(*) AS run FROM migrations');
        return Number(rows[0]?.run);
      }),
    ),
  );
  return counts.reduce<number | undefined>(
    (sum, run) => (sum === undefined || run === undefined ? undefined : sum + run),
    0,
  );
}

function commentOf(digest: string, run: number): string {
  return `Schemas of Svc Payments, ${run} migrations run by ./svc: ${digest}`;
}
