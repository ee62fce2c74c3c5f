/**
 * Builds the program of one app from its sources, without type checks. It bundles only the code of this repository:
 * third-party packages stay in node_modules, because esbuild would need seconds to bundle them at every change. swc
 * compiles each file, because esbuild writes no decorator metadata. Jest compiles the same files with swc.
 */
import { readFileSync, statSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Options, transform } from '@swc/core';
import { type BuildContext, type BuildResult, context, type Message, type Plugin } from 'esbuild';

const TYPESCRIPT = /\/(apps|libs)\/[^/]+\/src\/.*\.tsx?$/;
const RESOLVED = 'resolved';
const FROM_COMPILER = 'from the compiler';

interface CompiledFile {
  readonly modifiedAt: number;
  readonly contents: string;
}

export class AppBuild {
  /** The source files of the last successful build, relative to the root. */
  inputs: ReadonlySet<string> = new Set();
  private readonly esbuild: BuildContext;

  private constructor(esbuild: BuildContext) {
    this.esbuild = esbuild;
  }

  /** Prepares the build of the program in this folder, and removes an earlier program. */
  static async create(root: string, app: string, folder: string): Promise<AppBuild> {
    await rm(folder, { recursive: true, force: true });
    const reflectMetadata = pathToFileURL(join(root, 'node_modules', 'reflect-metadata', 'Reflect.js')).href;
    return new AppBuild(
      await context({
        entryPoints: [
          { in: `apps/${app}/src/main.ts`, out: 'main' },
          // Imported before the program, as in production (programs.ts).
          { in: 'libs/service/src/telemetry.ts', out: 'telemetry' },
        ],
        absWorkingDir: root,
        outdir: folder,
        chunkNames: 'chunks/[hash]',
        bundle: true,
        splitting: true,
        format: 'esm',
        platform: 'node',
        target: 'node24',
        conditions: ['svc-source'],
        // TypeORM derives the names of entities and migrations from the names of their classes.
        keepNames: true,
        sourcemap: true,
        sourcesContent: false,
        metafile: true,
        // esbuild would remove the files of the last build when the sources have errors.
        write: false,
        plugins: [externalPackages(), compiledSources()],
        logLevel: 'silent',
        // Decorators need reflect-metadata when their module is evaluated.
        banner: { js: `import '${reflectMetadata}';` },
      }),
    );
  }

  /** Writes the program, unless the sources have errors. Returns the errors as texts. */
  async run(): Promise<string[]> {
    try {
      const { metafile, outputFiles = [] } = await this.esbuild.rebuild();
      this.inputs = new Set(Object.keys(metafile?.inputs ?? {}));
      for (const { path, contents } of outputFiles) {
        await mkdir(dirname(path), { recursive: true });
        await writeFile(path, contents);
      }
      return [];
    } catch (error) {
      const { errors } = error as Partial<BuildResult>;
      if (errors === undefined) throw error;
      return errors.map(formatMessage);
    }
  }

  async close(): Promise<void> {
    await this.esbuild.dispose();
  }
}

/** esbuild reads the output of swc, so its line numbers are not those of the source file. */
function formatMessage({ text, location, detail }: Message): string {
  if (location === null || detail === FROM_COMPILER) return text;
  return [`${location.file}: ${text}`, `    ${location.lineText.trim()}`].join('\n');
}

/** Imports of third-party packages become imports of their files, as the importing package finds them. */
function externalPackages(): Plugin {
  const cache = new Map<string, string>();
  return {
    name: 'external packages',
    setup(esbuild) {
      esbuild.onResolve({ filter: /^[^./]/ }, async ({ path, kind, pluginData, ...from }) => {
        if (kind === 'entry-point' || pluginData === RESOLVED || path.startsWith('@svc/')) return undefined;
        if (isBuiltin(path)) return { path, external: true };
        const key = `${from.resolveDir}\0${kind}\0${path}`;
        const cached = cache.get(key);
        if (cached !== undefined) return { path: cached, external: true };
        const found = await esbuild.resolve(path, { ...from, kind, pluginData: RESOLVED });
        if (found.errors.length > 0) return { errors: found.errors };
        const url = pathToFileURL(found.path).href;
        cache.set(key, url);
        return { path: url, external: true };
      });
    },
  };
}

function compiledSources(): Plugin {
  const cache = new Map<string, CompiledFile>();
  return {
    name: 'compiled sources',
    setup(esbuild) {
      esbuild.onLoad({ filter: TYPESCRIPT }, async ({ path }) => {
        try {
          const modifiedAt = statSync(path).mtimeMs;
          const cached = cache.get(path);
          if (cached?.modifiedAt === modifiedAt) return { contents: cached.contents };
          const contents = await compile(path);
          cache.set(path, { modifiedAt, contents });
          return { contents };
        } catch (error) {
          return { errors: [{ text: formatSyntaxError(error), detail: FROM_COMPILER }] };
        }
      });
    },
  };
}

/** The message of swc contains a code frame, and then a stack of its own functions. */
function formatSyntaxError(error: unknown): string {
  return (error as Error).message.split('\nCaused by:')[0]!.trim();
}

/** JavaScript of a source file. Paths that depend on the file's own place name the source file, not the bundle. */
export async function compile(file: string): Promise<string> {
  const { code } = await transform(readFileSync(file, 'utf8'), swcOptions(file));
  return code
    .replaceAll('import.meta.dirname', JSON.stringify(dirname(file)))
    .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(file).href));
}

/** As in jest.config.mjs and tsconfig.base.json. */
function swcOptions(filename: string): Options {
  return {
    filename,
    configFile: false,
    swcrc: false,
    sourceMaps: 'inline',
    jsc: {
      target: 'es2024',
      parser: { syntax: 'typescript', tsx: filename.endsWith('.tsx'), decorators: true },
      transform: {
        legacyDecorator: true,
        decoratorMetadata: true,
        useDefineForClassFields: false,
        react: { runtime: 'automatic', importSource: 'preact' },
      },
    },
  };
}
