/**
 * A PostgreSQL 15 of Debian for a drill, with the scripts of deploy/backup: base backups, the archive, and restores to a point
 * in time. The server of the npm package has no pg_basebackup and no pg_dump.
 */
import { once } from 'node:events';
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitUntil } from '@svc/testing';
import pg from 'pg';
import { startPostgres } from '../../tools/svc/postgres/postgres.ts';
import { findPostgresBinaries } from '../../tools/svc/postgres/postgres-binaries.ts';
import { stopPostgres } from '../../tools/svc/postgres/postgres-process.ts';
import { type Platform, ROOT, run } from '../platform/platform.js';

export const POSTGRES_BIN = '/usr/lib/postgresql/15/bin';
const SCRIPTS = join(ROOT, 'deploy', 'backup');
const RETENTION_DAYS = '7';

export class PointInTime {
  private readonly archive: string;
  private readonly backups: string;
  private readonly data: string;
  private restores = 0;

  private constructor(private readonly platform: Platform) {
    this.archive = join(platform.dataDir, 'archive');
    this.backups = join(platform.dataDir, 'backups');
    this.data = join(platform.dataDir, 'postgres');
  }

  /** Restarts the server of the platform with an archive. The platform must be down. */
  static async configure(platform: Platform): Promise<PointInTime> {
    const points = new PointInTime(platform);
    mkdirSync(points.archive, { recursive: true });
    // The server may run as another user, which cannot read the repository.
    cpSync(SCRIPTS, join(platform.dataDir, 'scripts'), { recursive: true });
    const script = join(platform.dataDir, 'scripts', 'archive-wal.sh');
    chmodSync(script, 0o755);
    const settings = `archive_mode = on\narchive_command = 'bash "${script}" "%p" "%f" "${points.archive}"'\n`;
    writeFileSync(join(points.data, 'postgresql.conf'), settings, { flag: 'a' });
    return points;
  }

  async backUp(): Promise<string> {
    const output = await this.script('base-backup.sh', this.backups, this.archive, RETENTION_DAYS);
    return output.trim().split('\n').at(-1)!;
  }

  /** Ends the current segment of the log, and waits until it is in the archive. */
  async archiveAll(): Promise<void> {
    const [row] = await this.platform.sql<{ name: string }>(`SELECT pg_walfile_name(pg_switch_wal()) AS name`);
    await waitUntil('the segment in the archive', 60_000, () =>
      Promise.resolve(existsSync(join(this.archive, row!.name))),
    );
  }

  /** Replaces the server of the platform. The platform must be down. */
  async restoreServer(backup: string, time: Date): Promise<void> {
    await stopPostgres(this.data);
    renameSync(this.data, `${this.data}.before-${++this.restores}`);
    await this.script('restore-server.sh', backup, this.archive, this.data, time.toISOString());
    await this.startServer(this.data, this.port);
    await this.mark(time);
  }

  /** Replaces one schema by its state in a server that is restored beside the platform's. The platform must be down. */
  async restoreService(backup: string, time: Date, schema: string): Promise<void> {
    const beside = join(this.platform.dataDir, `restored-${++this.restores}`);
    await this.script('restore-server.sh', backup, this.archive, beside, time.toISOString());
    // The restored server must not write into the archive of the running one.
    writeFileSync(join(beside, 'postgresql.conf'), 'archive_mode = off\n', { flag: 'a' });
    const port = this.port - 1;
    await this.startServer(beside, port);
    await this.startServer(this.data, this.port);
    const urlOf = (at: number): string => `postgres://postgres:${this.password}@127.0.0.1:${at}/svc`;
    await this.script('restore-service.sh', urlOf(port), urlOf(this.port), schema);
    await stopPostgres(beside);
    rmSync(beside, { recursive: true });
    await this.mark(time, schema);
  }

  private async mark(time: Date, schema?: string): Promise<void> {
    const url = new URL(`postgres://postgres:${this.password}@127.0.0.1:${this.port}/svc`);
    const options = [
      `-c svc.restored_to=${time.toISOString()}`,
      ...(schema ? [`-c svc.restored_schema=${schema}`] : []),
    ];
    const client = new pg.Client({ connectionString: url.href, options: options.join(' ') });
    await client.connect();
    // The server accepts connections before it has read the archive to the chosen time.
    await waitUntil('the end of the recovery', 120_000, async () => {
      const { rows } = await client.query<{ recovering: boolean }>('SELECT pg_is_in_recovery() AS recovering');
      return rows[0]?.recovering === false;
    });
    await client.query(readFileSync(join(SCRIPTS, 'mark-restored.sql'), 'utf8'));
    const ended = once(client, 'end');
    await client.end();
    await ended;
  }

  private startServer(directory: string, port: number): Promise<unknown> {
    return startPostgres({
      ...{ root: ROOT, directory, port, password: this.password, durable: true },
      binaries: findPostgresBinaries(ROOT, POSTGRES_BIN),
      logFile: join(this.platform.dataDir, 'log', `postgres-${port}.log`),
    });
  }

  private get password(): string {
    const secrets = readFileSync(join(this.platform.dataDir, 'secrets.json'), 'utf8');
    return (JSON.parse(secrets) as { postgresPassword: string }).postgresPassword;
  }

  private get port(): number {
    return Number(this.platform.env()['SVC_PORT_BASE']) + 32;
  }

  /** Returns the output. Throws if the script fails. */
  private async script(name: string, ...args: string[]): Promise<string> {
    const env = {
      ...this.platform.env(),
      ...{ PGHOST: '127.0.0.1', PGPORT: String(this.port), PGUSER: 'postgres', PGPASSWORD: this.password },
      SVC_PG_BIN: POSTGRES_BIN,
    };
    const { code, output } = await run('bash', [join(SCRIPTS, name), ...args], env);
    if (code !== 0) throw new Error(`${name} failed (${code}):\n${output}`);
    return output;
  }
}
