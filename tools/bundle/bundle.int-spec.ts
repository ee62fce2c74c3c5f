import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Programs } from './programs.js';

const root = join(import.meta.dirname, '..', '..');

/** Every system test starts programs of this bundle. */
describe('the bundle', () => {
  beforeAll(() => {
    bundle();
  });

  it('is not rebuilt when no code was compiled and no package was installed', () => {
    const builtAt = statSync(join(root, 'dist/inputs.sha256')).mtimeMs;
    expect(bundle()).toBe('up to date');
    expect(statSync(join(root, 'dist/inputs.sha256')).mtimeMs).toBe(builtAt);
  });

  it('contains a program for each app', () => {
    const apps = globSync('apps/*/dist/main.js', { cwd: root }).map((file) => file.split('/')[1]!);
    expect(apps.length).toBeGreaterThan(9);
    expect(apps.filter((app) => !existsSync(join(root, 'dist', app, 'main.js')))).toEqual([]);
  });

  it('contains source maps of the apps and libs, but not of third-party packages', () => {
    const programs = JSON.parse(readFileSync(join(root, 'dist/programs.json'), 'utf8')) as Programs;
    const maps = [
      ...new Set(Object.values(programs).flatMap(({ files }) => files.map((file) => join(root, `${file}.map`)))),
    ];
    const sources = maps
      .filter((map) => existsSync(map))
      .flatMap((map) => (JSON.parse(readFileSync(map, 'utf8')) as { sources: string[] }).sources);
    expect(sources.filter((source) => source.includes('node_modules/'))).toEqual([]);
    expect(sources.filter((source) => source.endsWith('payments/charge-attempt.ts'))).toHaveLength(1);
  });

  it('has no database and broker packages in pos-transformer, which runs in a store', () => {
    const programs = JSON.parse(readFileSync(join(root, 'dist/programs.json'), 'utf8')) as Programs;
    const { packages, bundledPackages } = programs['pos-transformer/main']!;
    const allPackages = [...packages, ...bundledPackages.map((folder) => folder.replace(/^.*node_modules\//, ''))];
    expect(allPackages).toEqual(expect.arrayContaining(['@nestjs/core', 'fastify']));
    for (const database of ['typeorm', 'pg', 'amqplib']) expect(allPackages).not.toContain(database);
    expect(programs['identity/main']!.bundledPackages).toContain('node_modules/typeorm');
  });

  function bundle(): string {
    return execFileSync(process.execPath, [join(import.meta.dirname, 'bundle.ts')], { encoding: 'utf8' }).trim();
  }
});
