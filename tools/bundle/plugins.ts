/** esbuild plugins for Nest, for CommonJS packages, and for modules that read files beside them. */
import { globSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import type { Plugin } from 'esbuild';
import { build } from 'esbuild';

const root = join(import.meta.dirname, '..', '..');
export const VENDOR = 'vendor';
const ON_DEMAND = 'on-demand';
const THROTTLER = '@nestjs/throttler';

/**
 * Nest imports optional packages when it needs them. This plugin bundles those that are installed, and leaves the other
 * imports as they are. It also lists the export names of CommonJS packages, because esbuild does not find all of them.
 */
const packagesOnDemand: Plugin = {
  name: 'packages on demand',
  setup(esbuild) {
    esbuild.onResolve({ filter: /^[^./]/ }, async ({ path, pluginData, ...from }) => {
      if (pluginData === ON_DEMAND) return undefined;
      const found = await esbuild.resolve(path, { ...from, pluginData: ON_DEMAND });
      if (found.errors.length > 0) return { path, external: true };
      const isCommonJs = found.path.startsWith(root) && !found.external && !(await isEsModule(found.path));
      return from.kind === 'dynamic-import' && isCommonJs ? { path, namespace: ON_DEMAND } : undefined;
    });
    esbuild.onLoad({ filter: /.*/, namespace: ON_DEMAND }, async ({ path }) => ({
      contents: `import * as all from '${path}';\nexport const { ${(await findExportNames(path)).join()} } = all;`,
      resolveDir: root,
    }));
  },
};

async function isEsModule(file: string): Promise<boolean> {
  return file.endsWith('.mjs') || /^(import|export) /m.test(await readFile(file, 'utf8'));
}

/** The export names of a CommonJS package, as Node.js finds them. */
async function findExportNames(name: string): Promise<string[]> {
  return Object.keys((await import(name)) as object).filter(
    (each) => /^[A-Za-z_$][\w$]*$/.test(each) && each !== 'default',
  );
}

/**
 * A program that is never started. It imports all third-party packages, so that esbuild puts them into separate chunks,
 * which need no source map.
 */
const vendorPackages: Plugin = {
  name: 'vendor',
  setup(esbuild) {
    esbuild.onResolve({ filter: new RegExp(`^${VENDOR}`) }, ({ path }) => ({ path, namespace: VENDOR }));
    esbuild.onLoad({ filter: /.*/, namespace: VENDOR }, ({ path }) => {
      const folder = path.slice(VENDOR.length + 1);
      return {
        contents: (folder === '' ? workspaceFolders() : findDependencies(folder))
          .map((name, index) => `export * as package${index} from '${name}';`)
          .join('\n'),
        resolveDir: join(root, folder),
      };
    });
  },
};

/** Every app and lib, because each may have another version of a package. */
function workspaceFolders(): string[] {
  return globSync('{apps,libs}/*/package.json', { cwd: root }).map((file) => `${VENDOR}/${dirname(file)}`);
}

function findDependencies(folder: string): string[] {
  const { dependencies = {} } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as Manifest;
  const names = Object.keys(dependencies).filter((name) => !name.startsWith('@svc/'));
  return [...names, ...findSubPathImports(names, folder)];
}

/** Sub-path imports of packages, such as `csv-stringify/sync`, in the compiled code. */
function findSubPathImports(names: readonly string[], folder: string): Set<string> {
  const compiled = globSync('dist/**/*.js', { cwd: join(root, folder) });
  const imports = compiled.flatMap((file) => [
    ...readFileSync(join(root, folder, file), 'utf8').matchAll(/^import .* from '([^']+)';$/gm),
  ]);
  const entries = imports.map(([, path]) => path!);
  return new Set(entries.filter((path) => names.some((name) => path.startsWith(`${name}/`))));
}

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
}

/**
 * Replaces `import.meta.dirname` by the folder of the compiled module, where the module finds its files. In the bundle
 * it would be the folder of the script, which is two folders below the root.
 */
const foldersOfModules: Plugin = {
  name: 'folders of modules',
  setup(esbuild) {
    esbuild.onLoad({ filter: /\/(apps|libs)\/[^/]+\/dist\/.*\.js$/ }, async ({ path }) => {
      const contents = await readFile(path, 'utf8');
      if (!contents.includes('import.meta.dirname')) return undefined;
      const folder = JSON.stringify(`/../../${relative(root, dirname(path))}`);
      return { contents: contents.replaceAll('import.meta.dirname', `(import.meta.dirname + ${folder})`) };
    });
  },
};

/**
 * The throttler is the only CommonJS package that requires Nest, whose modules are ES modules. esbuild would evaluate
 * Nest at the first `require`, in an order that breaks Nest's circular modules. So this plugin converts the throttler
 * into an ES module.
 */
const throttlerAsModule: Plugin = {
  name: 'throttler as a module',
  setup(esbuild) {
    esbuild.onResolve({ filter: new RegExp(`^${THROTTLER}$`) }, ({ path }) => ({ path, namespace: THROTTLER }));
    esbuild.onLoad({ filter: /.*/, namespace: THROTTLER }, async () => ({
      contents: await convertThrottler(),
      resolveDir: root,
    }));
  },
};

async function convertThrottler(): Promise<string> {
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
    `export const { ${(await findExportNames(THROTTLER)).join()} } = module.exports;`,
  ].join('\n');
}

export const PLUGINS: Plugin[] = [packagesOnDemand, vendorPackages, foldersOfModules, throttlerAsModule];
