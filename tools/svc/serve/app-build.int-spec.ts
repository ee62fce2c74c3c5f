import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SUPERVISED_APPS } from '../processes/processes.ts';
import { servedProgramArguments } from '../processes/programs.ts';
import { AppBuild, compile } from './app-build.ts';

const root = join(import.meta.dirname, '..', '..', '..');

describe('the build of one app from its sources', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'svc-served-'));
  });
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  async function build(app: string): Promise<AppBuild> {
    const created = await AppBuild.create(root, app, join(folder, app));
    try {
      expect(await created.run()).toEqual([]);
    } finally {
      await created.close();
    }
    return created;
  }

  it.each(SUPERVISED_APPS)('finds all modules of %s', async (app) => {
    expect((await build(app)).inputs).toContain(`apps/${app}/src/main.ts`);
  });

  // merchant-retrieval has a third-party package of its own, which differs from the one of the repository.
  it.each(['front', 'merchant-retrieval'])('%s runs, also in a folder outside of the repository', async (app) => {
    await build(app);
    const program = servedProgramArguments(folder, app);
    const { stderr } = spawnSync(process.execPath, program, { env: {}, cwd: folder, encoding: 'utf8' });
    expect(stderr).toMatch(/^Cannot start: The configuration is not usable: /);
  });

  // Nest finds the dependencies of a class, and TypeORM and class-validator the types of properties, by this metadata.
  it('has the same decorator metadata as the compiler', async () => {
    const files = globSync('{apps,libs}/*/src/**/*.ts', { cwd: root }).filter((file) => !/spec\.ts$/.test(file));
    const differences: string[] = [];
    let count = 0;
    for (const file of files) {
      if (!/^ *@\w+\(/m.test(readFileSync(join(root, file), 'utf8'))) continue;
      const compiled = join(root, file.replace('/src/', '/dist/').replace(/ts$/, 'js'));
      const expected = readMetadata(readFileSync(compiled, 'utf8'));
      const actual = readMetadata(await compile(join(root, file)));
      count += expected.length;
      expect([file, actual.length]).toEqual([file, expected.length]);
      expected.forEach((each, nth) => each !== actual[nth] && differences.push(`${file}: ${each} → ${actual[nth]}`));
    }
    expect(count).toBeGreaterThan(500);
    // swc reads one file at a time, so it does not know that an imported type is a string. Nothing here depends on it.
    expect(differences.filter((each) => !each.endsWith(': design:type String → design:type Object'))).toEqual([]);
  });
});

/** The types that decorators receive, in the order of the file. */
function readMetadata(code: string): string[] {
  return [...code.matchAll(/_metadata\("(design:\w+)", ([^;]*?)\)(?=,\n|\n\s*\]|\s*\])/g)]
    .map(([, key, types]) => `${key} ${simplify(types!, code)}`)
    .filter((each) => each !== 'design:type Function'); // Only swc writes it for classes and methods.
}

/** swc writes `typeof X === "undefined" ? Object : X`: Object for a type that does not exist at run time. */
function simplify(types: string, code: string): string {
  const guard = /typeof (\w+)(?:\.\w+)* === "undefined" \? Object : ([\w.]+)/g;
  return types
    .replace(guard, (_guard, name: string, type: string) => (isDeclared(name, code) ? type : 'Object'))
    .replaceAll(/\s/g, '')
    .replaceAll('void0', 'Object'); // A parameter whose type is `undefined` or unknown.
}

function isDeclared(name: string, code: string): boolean {
  return name in globalThis || new RegExp(`^(import [^;]*|.*\\b(class|const|let|var) )\\b${name}\\b`, 'm').test(code);
}
