/**
 * Bundles the programs that `./svc` and the images start: `node tools/bundle/bundle.ts`. A service loads about 2 100
 * modules, most of them third-party. Without a bundle, more than half of the processor time of its start is spent on
 * finding and reading them (ADR 36).
 *
 * Writes `dist/<app>/<program>.js`, shared code into `dist/chunks`, and `dist/programs.json`, which lists the files and
 * packages of each program. Reads compiled code, because esbuild writes no decorator metadata. Does nothing when its
 * inputs have not changed since the last run.
 */
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join, relative } from 'node:path';
import type { Metafile } from 'esbuild';
import { build } from 'esbuild';
import { PLUGINS, VENDOR } from './plugins.ts';
import { type Program, type Programs, PROGRAMS_FILE } from './programs.ts';

const root = join(import.meta.dirname, '..', '..');
const digestFile = join(root, 'dist/inputs.sha256');

/**
 * Packages that OpenTelemetry patches when they load, packages that must be loaded before all chunks, and sharp, which
 * loads native code from beside its files.
 */
const NOT_BUNDLED = ['@opentelemetry/*', 'amqplib', 'pg', 'pg-*', 'reflect-metadata', 'sharp', 'undici'];

export async function bundle(): Promise<'bundled' | 'up to date'> {
  const compiled = globSync(['apps/*/dist/main.js', 'apps/all-in-one/dist/migrate.js'], { cwd: root }).sort();
  const digest = computeInputsDigest();
  if (existsSync(digestFile) && readFileSync(digestFile, 'utf8') === digest) return 'up to date';
  // The build overwrites the scripts. If the build fails, the old digest must not mark the scripts as up to date.
  rmSync(digestFile, { force: true });
  const { metafile } = await build({
    entryPoints: [
      ...compiled.map((file) => ({ in: file, out: file.replace(/^apps\/(.+)\/dist\/(.+)\.js$/, '$1/$2') })),
      { in: 'libs/service/dist/telemetry.js', out: 'telemetry/main' },
      { in: VENDOR, out: `${VENDOR}/main` },
    ],
    absWorkingDir: root,
    outdir: 'dist',
    chunkNames: 'chunks/[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    external: NOT_BUNDLED,
    // TypeORM derives the names of entities and migrations from the names of their classes.
    keepNames: true,
    sourcemap: true,
    sourcesContent: false,
    metafile: true,
    plugins: PLUGINS,
    logLevel: 'warning',
    // Decorators need reflect-metadata when their module is evaluated. Bundled CommonJS packages call `require`.
    banner: {
      js: [
        "import 'reflect-metadata';",
        "import { createRequire as createRequireOfBundle } from 'node:module';",
        'const require = createRequireOfBundle(import.meta.url);',
      ].join('\n'),
    },
  });
  removeVendorSourceMaps(metafile);
  writeFileSync(PROGRAMS_FILE, JSON.stringify(describePrograms(metafile), null, 2));
  removeOldChunks(metafile);
  writeFileSync(digestFile, digest);
  return 'bundled';
}

/** Digest of the compiler's build state, the packages' lock file, and the bundler's own sources. */
function computeInputsDigest(): string {
  const here = relative(root, import.meta.dirname);
  const files = globSync(['{apps,libs}/*/tsconfig.tsbuildinfo', 'package-lock.json', `${here}/*.ts`], { cwd: root });
  const hash = createHash('sha256');
  for (const file of files.sort()) hash.update(`${file}\0`).update(readFileSync(join(root, file)));
  return hash.digest('hex');
}

/**
 * Removes the source maps of third-party code. Node.js reads the map of each script, and these maps are ten times as
 * large as the others.
 */
function removeVendorSourceMaps({ outputs }: Metafile): void {
  for (const [file, { inputs }] of Object.entries(outputs)) {
    if (!file.endsWith('.js') || Object.keys(inputs).some(isWorkspaceCode)) continue;
    const path = join(root, file);
    writeFileSync(path, readFileSync(path, 'utf8').replace(/\n\/\/# sourceMappingURL=.*\n$/, '\n'));
    rmSync(`${path}.map`);
  }
}

function isWorkspaceCode(input: string): boolean {
  return /^(apps|libs)\/[^/]+\/dist\//.test(input);
}

function describePrograms({ outputs }: Metafile): Programs {
  const programs: Record<string, Program> = {};
  for (const [file, { entryPoint }] of Object.entries(outputs)) {
    if (entryPoint === undefined || file.startsWith('dist/chunks/') || file.includes(VENDOR)) continue;
    const files = new Set([file]);
    const packages = new Set(['reflect-metadata']);
    // A Set also iterates over elements that are added during the iteration.
    for (const each of files)
      for (const { path, external } of outputs[each]?.imports ?? []) (external === true ? packages : files).add(path);
    const imported = [...packages].filter((name) => !isBuiltin(name)).map(packageName);
    const inputs = [...files].flatMap((each) => Object.keys(outputs[each]?.inputs ?? {}));
    programs[file.slice('dist/'.length, -'.js'.length)] = {
      files: [...files],
      packages: [...new Set(imported)].sort(),
      bundledPackages: [...new Set(inputs.map(packageFolder).filter((folder) => folder !== undefined))].sort(),
    };
  }
  return programs;
}

/** `node_modules/@scope/name/lib/file.js` → `node_modules/@scope/name`; undefined for code of this repository. */
function packageFolder(input: string): string | undefined {
  // The throttler's modules are bundled before the rest (plugins.ts).
  if (input.startsWith('@nestjs/throttler:')) return 'node_modules/@nestjs/throttler';
  return /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(input)?.[0];
}

/** `@scope/name/file.js` → `@scope/name` */
function packageName(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

/** Removes chunks that are older than a day. Running programs may still load newer chunks of an earlier build. */
function removeOldChunks({ outputs }: Metafile): void {
  const aDayAgo = Date.now() - 86_400_000;
  for (const file of globSync('dist/chunks/*', { cwd: root }))
    if (outputs[file] === undefined && statSync(join(root, file)).mtimeMs < aDayAgo) rmSync(join(root, file));
}

if (import.meta.main) console.log(await bundle());
