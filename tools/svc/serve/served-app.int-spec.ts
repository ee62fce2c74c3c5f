import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { waitUntil } from '../base/wait-until.ts';
import { ServedApp } from './served-app.ts';

const repository = join(import.meta.dirname, '..', '..', '..');
const WITHIN = { withinSeconds: 60 };
const PROJECT = (references: string[]): string =>
  JSON.stringify({
    extends: '../../tsconfig.base.json',
    compilerOptions: { rootDir: 'src', outDir: 'dist', types: [] },
    include: ['src'],
    references: references.map((path) => ({ path })),
  });

/** A repository with one app and one library. */
const SOURCES: Readonly<Record<string, string>> = {
  'apps/identity/src/main.ts': `import { WORD } from '@svc/service';\nimport { name } from './name.js';\nconst text: string = name;\nexport { text, WORD };\n`,
  'apps/identity/src/name.ts': `export const name = 'first';\n`,
  'apps/identity/src/name.spec.ts': `export {};\n`,
  'apps/identity/package.json': `{ "name": "@svc/identity", "type": "module" }`,
  'apps/identity/tsconfig.json': PROJECT(['../../libs/service']),
  'libs/service/src/index.ts': `export const WORD = ' word';\n`,
  'libs/service/src/telemetry.ts': `export {};\n`,
  'libs/service/package.json': `{ "name": "@svc/service", "type": "module", "exports": { "svc-source": "./src/index.ts" } }`,
  'libs/service/tsconfig.json': PROJECT([]),
};

describe('an app that is served from its sources', () => {
  let root: string;
  let served: ServedApp;
  let printed: string[];
  let reloads: number;

  beforeEach(async () => {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'svc-sources-')));
    for (const [file, text] of Object.entries(SOURCES)) write(file, text);
    cpSync(join(repository, 'tsconfig.base.json'), join(root, 'tsconfig.base.json'));
    mkdirSync(join(root, 'node_modules', '@svc'), { recursive: true });
    for (const name of ['reflect-metadata', 'typescript'])
      symlinkSync(join(repository, 'node_modules', name), join(root, 'node_modules', name));
    symlinkSync(join(root, 'libs', 'service'), join(root, 'node_modules', '@svc', 'service'));
    printed = [];
    reloads = 0;
    served = new ServedApp({ root, app: 'identity', folder: join(root, 'out'), print: (text) => printed.push(text) });
  });

  afterEach(async () => {
    await served.close();
    rmSync(root, { recursive: true });
  });

  const start = (): Promise<void> => served.start(() => reloads++);
  const reloaded = (count: number): Promise<unknown> => waitUntil(() => reloads >= count, WITHIN);
  const program = (): string => readFileSync(join(root, 'out', 'main.js'), 'utf8');

  function write(file: string, text: string): void {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }

  it('is built at the start, and again after a change of the app or of a library that it uses', async () => {
    await start();
    expect([reloads, program()]).toEqual([1, expect.stringContaining('first')]);
    write('apps/identity/src/name.ts', `export const name = 'second';\n`);
    await reloaded(2);
    expect(program()).toContain('second');
    write('libs/service/src/index.ts', `export const WORD = ' other';\n`);
    await reloaded(3);
    expect(program()).toContain(' other');
    expect(printed).toEqual([]);
  });

  it('is not built again after a change of a test', async () => {
    await start();
    write('apps/identity/src/name.spec.ts', `export const changed = 1;\n`);
    write('apps/identity/src/name.ts', `export const name = 'second';\n`);
    await reloaded(2);
    write('apps/identity/src/name.spec.ts', `export const changed = 2;\n`);
    write('libs/service/src/index.ts', `export const WORD = ' other';\n`);
    await reloaded(3);
    expect([reloads, program()]).toEqual([3, expect.stringContaining(' other')]);
  });

  it('continues to run while the sources have errors, which are shown with their place', async () => {
    await start();
    write('apps/identity/src/name.ts', `export const name = 'second';\nconst broken = ;\n`);
    await waitUntil(() => printed.length === 1, WITHIN);
    expect(printed[0]).toMatch(/^The sources have errors, so identity does not start with them:\n/);
    expect(printed[0]).toContain(`${root}/apps/identity/src/name.ts:2:1`);
    expect(printed[0]).toContain('const broken = ;');
    expect(printed[0]).not.toContain('main.ts');
    expect(printed[0]).not.toContain('tack backtrace');
    expect([reloads, program()]).toEqual([1, expect.stringContaining('first')]);

    write('apps/identity/src/name.ts', `export const name = 'third';\n`);
    await reloaded(2);
    expect(program()).toContain('third');
  });

  it('is built when a missing file in a new folder is created', async () => {
    await start();
    write('apps/identity/src/name.ts', `export { name } from './names/long.js';\n`);
    await waitUntil(() => printed.length === 1, WITHIN);
    expect(printed[0]).toContain(`apps/identity/src/name.ts: Could not resolve "./names/long.js"`);
    write('apps/identity/src/names/long.ts', `export const name = 'long';\n`);
    await reloaded(2);
    write('apps/identity/src/names/long.ts', `export const name = 'longer';\n`);
    await reloaded(3);
    expect(program()).toContain('longer');
  });

  it('runs in spite of wrong types, which are shown when it is ready', async () => {
    await start();
    write('apps/identity/src/name.ts', `export const name = 2;\n`);
    await reloaded(2);
    served.onReload('ready');
    expect(printed.shift()).toMatch(/^identity is ready with these sources \(\d+\.\d s\)$/);
    await waitUntil(() => printed.length === 1, WITHIN);
    expect(printed.shift()).toBe(
      'The types have errors (the app runs nevertheless):\n' +
        "apps/identity/src/main.ts(3,7): error TS2322: Type 'number' is not assignable to type 'string'.",
    );
    write('apps/identity/src/name.ts', `export const name = 'a text';\n`);
    await reloaded(3);
    served.onReload('ready');
    await waitUntil(() => printed.length === 2, WITHIN);
    expect(printed[1]).toBe('The types are correct again');
  });
});
