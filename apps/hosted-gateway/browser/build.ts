/**
 * Builds the payment page's scripts, one for each language, and its style: `node apps/hosted-gateway/browser/build.ts`.
 *
 * Writes `dist/pay-assets/pay-<hash>.js`, each also compressed (`.br`, `.gz`), and `manifest.json`, which names them with their
 * integrity (SRI) and has the style itself, which is part of each page. The names change with the content, so the files may be
 * cached for ever. The manifest is written last, by renaming, so that every file that it names exists. Does nothing when no input
 * has changed. Runs on Node.js 24 as it is, so only types may be TypeScript here, also in the languages.
 */
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { af } from '../src/languages/af.ts';
import { en } from '../src/languages/en.ts';
import { st } from '../src/languages/st.ts';
import { xh } from '../src/languages/xh.ts';
import { zu } from '../src/languages/zu.ts';
import type { PageAsset, PageAssets } from '../src/page-views/pay-page-model.ts';
import { scriptMessages } from './script-messages.ts';

const here = import.meta.dirname;
const workspace = join(here, '../../..');
const outDirectory = join(here, '../dist/pay-assets');
const manifestFile = join(outDirectory, 'manifest.json');
const inputsFile = join(outDirectory, 'inputs.json');

const LANGUAGES = { en, af, zu, xh, st };
/** Not seen by esbuild: this program reads them. */
const OWN_INPUTS = [
  'build.ts',
  'script-messages.ts',
  ...Object.keys(LANGUAGES).map((tag) => `../src/languages/${tag}.ts`),
];

/** What the last build was made of. */
interface BuildInputs {
  digest: string;
  files: string[];
}

export async function buildPage(): Promise<PageAssets> {
  const upToDate = await manifestIfUpToDate();
  if (upToDate) return upToDate;

  await mkdir(outDirectory, { recursive: true });
  const inputs = new Set(OWN_INPUTS.map((file) => relative(workspace, join(here, file))));
  const content = await bundle('pay.css', inputs);
  const style = { content: Buffer.from(content).toString(), integrity: integrityOf(content) };
  const scripts: Record<string, PageAsset> = {};
  for (const [tag, messages] of Object.entries(LANGUAGES)) {
    const define = { SCRIPT_MESSAGES: JSON.stringify(scriptMessages(messages)) };
    scripts[tag] = await writeHashed(await bundle('pay.ts', inputs, define));
  }
  const manifest: PageAssets = { scripts: scripts as PageAssets['scripts'], style };
  const previous = await readFile(manifestFile, 'utf8').catch(() => '');
  await writeWhole(manifestFile, JSON.stringify(manifest, null, 2));
  const files = [...inputs].sort();
  await writeWhole(inputsFile, JSON.stringify({ digest: await digestOf(files), files } satisfies BuildInputs, null, 2));
  await removeOlderThan(JSON.stringify(manifest), previous);
  return manifest;
}

/** @param inputs gets the files that it was made of */
async function bundle(entry: string, inputs: Set<string>, define: Record<string, string> = {}): Promise<Uint8Array> {
  const { build } = await import('esbuild');
  const { outputFiles, metafile } = await build({
    entryPoints: [join(here, entry)],
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
    define,
  });
  for (const file of Object.keys(metafile.inputs)) inputs.add(file);
  return outputFiles[0]!.contents;
}

async function manifestIfUpToDate(): Promise<PageAssets | undefined> {
  const [manifest, inputs] = await Promise.all([readJson<PageAssets>(manifestFile), readJson<BuildInputs>(inputsFile)]);
  if (!manifest || !inputs || (await digestOf(inputs.files)) !== inputs.digest) return undefined;
  const present = new Set(await readdir(outDirectory));
  const named = Object.values(manifest.scripts);
  return named.every(({ file }) => present.has(file)) ? manifest : undefined;
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

function integrityOf(content: Uint8Array): string {
  return `sha384-${createHash('sha384').update(content).digest('base64')}`;
}

async function writeHashed(content: Uint8Array): Promise<PageAsset> {
  const file = `pay-${createHash('sha384').update(content).digest('hex').slice(0, 16)}.js`;
  await writeWhole(join(outDirectory, file), content);
  // Once, as small as can be, and not again for each payer.
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } };
  await writeWhole(join(outDirectory, `${file}.br`), await promisify(brotliCompress)(content, quality));
  await writeWhole(join(outDirectory, `${file}.gz`), await promisify(gzip)(content, { level: 9 }));
  return { file, integrity: integrityOf(content) };
}

/** By renaming, so that two builds at once, or a server that reads meanwhile, never see half a file. */
async function writeWhole(file: string, content: string | Uint8Array): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const temporary = `${file}.${process.pid}.tmp`;
  await writeFile(temporary, content);
  await rename(temporary, file);
}

/** Keeps the files that either manifest names: a server that still runs may serve pages of the build before. */
async function removeOlderThan(...manifests: string[]): Promise<void> {
  const kept = new Set(manifests.flatMap((each) => each.match(/\bpay-[0-9a-f]{16}\.(?:js|css)\b/g) ?? []));
  for (const file of await readdir(outDirectory)) {
    const [, name] = /^(pay-[0-9a-f]{16}\.(?:js|css))(?:\.br|\.gz)?$/.exec(file) ?? [];
    if (name !== undefined && !kept.has(name)) await rm(join(outDirectory, file), { force: true });
  }
}

async function readJson<T>(file: string): Promise<T | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as T;
  } catch {
    return undefined;
  }
}

if (import.meta.main) {
  const { scripts } = await buildPage();
  console.log(
    `page: ${Object.values(scripts)
      .map(({ file }) => file)
      .join(' ')}`,
  );
}
