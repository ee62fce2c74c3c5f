/**
 * Bundles what `./svc up` starts: `node tools/svc/bundle.ts`. A service loads some 2 100 modules, most of them other
 * people's, and to find and read them took more than half of the processor time of its start (ADR 37).
 *
 * Writes `dist/<app>/bundle/<program>.js` for each program, and what programs share into `dist/chunks`. It is made from
 * compiled code, because esbuild writes no decorator metadata. Does nothing when nothing was compiled or installed since.
 */
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { build } from 'esbuild';
import type { BuildOptions, Metafile, Plugin } from 'esbuild';

const root = join(import.meta.dirname, '..', '..');
const out = join(root, 'dist');
const digestFile = join(out, 'inputs.sha256');
const TELEMETRY = '@svc/service/telemetry';
const OTHERS = 'packages-of-others';
const ON_DEMAND = 'on-demand';
const THROTTLER = '@nestjs/throttler';

/** Native code, what OpenTelemetry patches as it is loaded, and what must be there before any chunk is evaluated. */
const NOT_BUNDLED = [
  '@node-rs/*',
  '@opentelemetry/*',
  'amqplib',
  'pg',
  'pg-*',
  'reflect-metadata',
  'undici',
  TELEMETRY,
];

const OPTIONS = {
  absWorkingDir: root,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node22',
  external: NOT_BUNDLED,
  keepNames: true,
  logLevel: 'warning',
  // Decorators write metadata while their module is evaluated; CommonJS packages require what is not bundled.
  banner: {
    js: `import 'reflect-metadata';\nimport { createRequire as createRequireOfBundle } from 'node:module';\nconst require = createRequireOfBundle(import.meta.url);`,
  },
} satisfies BuildOptions;

export async function bundle(): Promise<'bundled' | 'up to date'> {
  const programs = globSync(['apps/*/dist/main.js', 'apps/all-in-one/dist/migrate.js'], { cwd: root }).sort();
  const digest = digestOfInputs(programs);
  if (existsSync(digestFile) && readFileSync(digestFile, 'utf8') === digest) return 'up to date';
  const { metafile } = await build({
    ...OPTIONS,
    entryPoints: [...programs.map((file) => ({ in: file, out: bundledAs(file) })), { in: OTHERS, out: OTHERS }],
    outdir: out,
    chunkNames: 'chunks/[hash]',
    splitting: true,
    sourcemap: true,
    sourcesContent: false,
    metafile: true,
    plugins: [packagesOnDemand, packagesOfOthers, foldersOfModules, oneTelemetry, throttlerAsModule],
  });
  dropSourceMapsOfOthers(metafile);
  removeOlder(metafile);
  writeFileSync(digestFile, digest);
  return 'bundled';
}

/** `apps/identity/dist/main.js` → `identity/bundle/main`. */
function bundledAs(program: string): string {
  return program.replace(/^apps\/(.+)\/dist\/(.+)\.js$/, '$1/bundle/$2');
}

/** What the compiler says of its inputs, the packages' lock file, and this file. */
function digestOfInputs(programs: readonly string[]): string {
  const compiled = globSync('{apps,libs}/*/dist/*.tsbuildinfo', { cwd: root });
  const hash = createHash('sha256');
  for (const file of [...programs, ...compiled, 'package-lock.json', relative(root, import.meta.filename)].sort())
    hash.update(`${file}\0`).update(readFileSync(join(root, file)));
  return hash.digest('hex');
}

/** Nest imports packages as it needs them: some are not there, and some are CommonJS, whose names Node.js finds by itself. */
const packagesOnDemand: Plugin = {
  name: 'packages on demand',
  setup(esbuild) {
    esbuild.onResolve({ filter: /^[^./]/ }, async ({ path, pluginData, ...from }) => {
      if (pluginData === ON_DEMAND) return undefined;
      const found = await esbuild.resolve(path, { ...from, pluginData: ON_DEMAND });
      if (found.errors.length > 0) return { path, external: true };
      const isCommonJs = found.path.startsWith(root) && !found.external && !(await isModule(found.path));
      return from.kind === 'dynamic-import' && isCommonJs ? { path, namespace: ON_DEMAND } : undefined;
    });
    esbuild.onLoad({ filter: /.*/, namespace: ON_DEMAND }, async ({ path }) => ({
      contents: `import * as all from '${path}';\nexport const { ${(await namesOf(path)).join()} } = all;`,
      resolveDir: root,
    }));
  },
};

async function isModule(file: string): Promise<boolean> {
  return file.endsWith('.mjs') || /^(import|export) /m.test(await readFile(file, 'utf8'));
}

/** What a CommonJS package exports, as Node.js would say. */
async function namesOf(name: string): Promise<string[]> {
  return Object.keys((await import(name)) as object).filter(
    (each) => /^[A-Za-z_$][\w$]*$/.test(each) && each !== 'default',
  );
}

/** A program that nobody starts: it keeps other people's packages in chunks of their own, which need no source map. */
const packagesOfOthers: Plugin = {
  name: 'packages of others',
  setup(esbuild) {
    esbuild.onResolve({ filter: new RegExp(`^${OTHERS}`) }, ({ path }) => ({ path, namespace: OTHERS }));
    esbuild.onLoad({ filter: /.*/, namespace: OTHERS }, ({ path }) => {
      const folder = path.slice(OTHERS.length + 1);
      return {
        contents: (folder === '' ? foldersOfOurs() : dependenciesOf(folder))
          .map((name, index) => `export * as package${index} from '${name}';`)
          .join('\n'),
        resolveDir: join(root, folder),
      };
    });
  },
};

/** Each has its own, because an app or a library may have another version of a package than the rest. */
function foldersOfOurs(): string[] {
  return globSync('{apps,libs}/*/package.json', { cwd: root }).map((file) => `${OTHERS}/${dirname(file)}`);
}

function dependenciesOf(folder: string): string[] {
  const { dependencies = {} } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as Manifest;
  return Object.keys(dependencies).filter((name) => !name.startsWith('@svc/'));
}

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** A module that reads files beside itself finds them where it was compiled. */
const foldersOfModules: Plugin = {
  name: 'folders of modules',
  setup(esbuild) {
    esbuild.onLoad({ filter: /\/(apps|libs)\/[^/]+\/dist\/.*\.js$/ }, async ({ path }) => {
      const contents = await readFile(path, 'utf8');
      if (!contents.includes('import.meta.dirname')) return undefined;
      return { contents: contents.replaceAll('import.meta.dirname', JSON.stringify(dirname(path))) };
    });
  },
};

/** The one that `--import` has loaded before. */
const oneTelemetry: Plugin = {
  name: 'one telemetry',
  setup(esbuild) {
    esbuild.onResolve({ filter: /^\.\/telemetry\.js$/ }, () => ({ path: TELEMETRY, external: true }));
  },
};

/**
 * The one CommonJS package that requires Nest, which is ES modules. esbuild would evaluate Nest at the first such call, in an
 * order that Nest's circular modules do not bear. So it is made a module that imports Nest.
 */
const throttlerAsModule: Plugin = {
  name: 'throttler as a module',
  setup(esbuild) {
    esbuild.onResolve({ filter: new RegExp(`^${THROTTLER}$`) }, ({ path }) => ({ path, namespace: THROTTLER }));
    esbuild.onLoad({ filter: /.*/, namespace: THROTTLER }, async () => ({
      contents: await throttler(),
      resolveDir: root,
    }));
  },
};

async function throttler(): Promise<string> {
  const nest = ['@nestjs/common', '@nestjs/core'];
  const { outputFiles } = await build({
    entryPoints: [createRequire(import.meta.url).resolve(THROTTLER)],
    bundle: true,
    write: false,
    format: 'cjs',
    platform: 'node',
    packages: 'external',
  });
  return [
    ...nest.map((name, index) => `import * as nest${index} from '${name}';`),
    `const nest = { ${nest.map((name, index) => `'${name}': nest${index}`).join()} };`,
    'const module = { exports: {} };',
    `((require, exports) => { ${outputFiles[0]!.text}\n })((name) => nest[name] ?? require(name), module.exports);`,
    `export const { ${(await namesOf(THROTTLER)).join()} } = module.exports;`,
  ].join('\n');
}

/** A source map is read when its module is, and other people's are ten times as large as ours. */
function dropSourceMapsOfOthers({ outputs }: Metafile): void {
  for (const [file, { inputs }] of Object.entries(outputs)) {
    if (!file.endsWith('.js') || Object.keys(inputs).some(isOurs)) continue;
    const path = join(root, file);
    writeFileSync(path, readFileSync(path, 'utf8').replace(/\n\/\/# sourceMappingURL=.*\n$/, '\n'));
    rmSync(`${path}.map`);
  }
}

function isOurs(input: string): boolean {
  return /^(apps|libs)\/[^/]+\/dist\//.test(input);
}

/** Afterwards: a process that runs may still load one. */
function removeOlder({ outputs }: Metafile): void {
  for (const file of globSync('dist/chunks/*', { cwd: root }))
    if (outputs[file] === undefined) rmSync(join(root, file));
}

if (import.meta.main) console.log(await bundle());
