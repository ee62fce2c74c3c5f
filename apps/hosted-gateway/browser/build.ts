/**
 * Builds the payment page's script and style: `node apps/hosted-gateway/browser/build.ts`.
 *
 * Writes `dist/pay-assets/pay-<hash>.{js,css}` and `manifest.json`, which names both with their integrity (SRI). The names
 * change with the content, so the files may be cached for ever. The manifest is written last and by renaming: whoever
 * reads it finds the files it names. Does nothing when no input has changed. Runs on Node.js 24 as it is, so only
 * types may be TypeScript here.
 */
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { PageAssets } from '../src/page-views/pay-page-model.ts';

const here = import.meta.dirname;
const workspace = join(here, '../../..');
const outDirectory = join(here, '../dist/pay-assets');
const manifestFile = join(outDirectory, 'manifest.json');
const inputsFile = join(outDirectory, 'inputs.json');

/** What the last build was made of. */
interface BuildInputs {
  digest: string;
  files: string[];
}

export async function buildPage(): Promise<PageAssets> {
  const upToDate = await manifestIfUpToDate();
  if (upToDate) return upToDate;

  const { build } = await import('esbuild');
  const result = await build({
    entryPoints: { pay: join(here, 'pay.ts'), style: join(here, 'pay.css') },
    absWorkingDir: workspace,
    outdir: outDirectory,
    bundle: true,
    write: false,
    minify: true,
    metafile: true,
    format: 'iife',
    target: ['es2022', 'safari16', 'chrome109', 'firefox115'],
    conditions: ['svc-source', 'browser', 'module'],
    legalComments: 'none',
    charset: 'utf8',
    logLevel: 'warning',
  });

  await mkdir(outDirectory, { recursive: true });
  const manifest: PageAssets = {
    script: await writeHashed(contentOf(result.outputFiles, 'pay.js'), 'js'),
    style: await writeHashed(contentOf(result.outputFiles, 'style.css'), 'css'),
  };
  const previous = await readJson<PageAssets>(manifestFile);
  await writeWhole(manifestFile, JSON.stringify(manifest, null, 2));
  const files = [...Object.keys(result.metafile.inputs), relative(workspace, import.meta.filename)].sort();
  await writeWhole(inputsFile, JSON.stringify({ digest: await digestOf(files), files } satisfies BuildInputs, null, 2));
  await removeOlderThan(manifest, previous);
  return manifest;
}

async function manifestIfUpToDate(): Promise<PageAssets | undefined> {
  const [manifest, inputs] = await Promise.all([readJson<PageAssets>(manifestFile), readJson<BuildInputs>(inputsFile)]);
  if (!manifest || !inputs || (await digestOf(inputs.files)) !== inputs.digest) return undefined;
  const present = new Set(await readdir(outDirectory));
  return present.has(manifest.script.file) && present.has(manifest.style.file) ? manifest : undefined;
}

/** Over names and contents; a file that is gone makes another digest. */
async function digestOf(files: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const file of files) {
    const content = await readFile(join(workspace, file)).catch(() => 'gone');
    hash.update(`${file}\0`).update(createHash('sha256').update(content).digest());
  }
  return hash.digest('hex');
}

async function writeHashed(content: Uint8Array, extension: 'js' | 'css'): Promise<PageAssets['script']> {
  const digest = createHash('sha384').update(content).digest();
  const file = `pay-${digest.toString('hex').slice(0, 16)}.${extension}`;
  await writeWhole(join(outDirectory, file), content);
  return { file, integrity: `sha384-${digest.toString('base64')}` };
}

/** By renaming, so that two builds at once, or a server that reads meanwhile, never see half a file. */
async function writeWhole(file: string, content: string | Uint8Array): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const temporary = `${file}.${process.pid}.tmp`;
  await writeFile(temporary, content);
  await rename(temporary, file);
}

/** Keeps the files of the build before: a server that still runs may serve pages that name them. */
async function removeOlderThan(manifest: PageAssets, previous: PageAssets | undefined): Promise<void> {
  const kept = new Set([manifest, previous].flatMap((each) => (each ? [each.script.file, each.style.file] : [])));
  for (const file of await readdir(outDirectory)) {
    if (/^pay-[0-9a-f]{16}\.(js|css)$/.test(file) && !kept.has(file))
      await rm(join(outDirectory, file), { force: true });
  }
}

function contentOf(files: readonly { path: string; contents: Uint8Array }[], name: string): Uint8Array {
  const file = files.find((each) => each.path.endsWith(`/${name}`) || each.path.endsWith(`\\${name}`));
  if (!file) throw new Error(`esbuild made no ${name}`);
  return file.contents;
}

async function readJson<T>(file: string): Promise<T | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as T;
  } catch {
    return undefined;
  }
}

if (import.meta.main) {
  const { script, style } = await buildPage();
  console.log(`page: ${script.file} ${style.file}`);
}
