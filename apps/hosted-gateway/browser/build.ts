/**
 * Builds the payment page's scripts, one for each language, and its style: `node apps/hosted-gateway/browser/build.ts`.
 *
 * Writes them and their hashes to `dist/pay-assets/manifest.json`. The server inlines them in each page, and the
 * content security policy of the page allows them by hash. Does nothing if no input has changed. Node.js 24 runs this
 * file and the languages directly, so they may contain only erasable TypeScript.
 */
import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { af } from '../src/languages/af.ts';
import { en } from '../src/languages/en.ts';
import { st } from '../src/languages/st.ts';
import { xh } from '../src/languages/xh.ts';
import { zu } from '../src/languages/zu.ts';
import type { PageAsset } from '../src/page-assets.ts';
import type { PageManifest } from '../src/page-views/pay-page-model.ts';
import { scriptMessages } from './script-messages.ts';

const here = import.meta.dirname;
const workspace = join(here, '../../..');
const outDirectory = join(here, '../dist/pay-assets');
const manifestFile = join(outDirectory, 'manifest.json');
const inputsFile = join(outDirectory, 'inputs.json');

const LANGUAGES = { en, af, zu, xh, st };
/** Inputs that this program imports itself. esbuild does not list them. */
const OWN_INPUTS = [
  'build.ts',
  'script-messages.ts',
  ...Object.keys(LANGUAGES).map((tag) => `../src/languages/${tag}.ts`),
];

/** The input files of the last build, and a digest of their names and contents. */
interface BuildInputs {
  digest: string;
  files: string[];
}

export async function buildPage(): Promise<PageManifest> {
  const upToDate = await readManifestIfUpToDate();
  if (upToDate) return upToDate;

  await mkdir(outDirectory, { recursive: true });
  const inputs = new Set(OWN_INPUTS.map((file) => relative(workspace, join(here, file))));
  const style = createAsset(await bundle('pay.css', inputs));
  const scripts: Record<string, PageAsset> = {};
  for (const [tag, messages] of Object.entries(LANGUAGES)) {
    const define = { SCRIPT_MESSAGES: JSON.stringify(scriptMessages(messages)) };
    scripts[tag] = createAsset(await bundle('pay.ts', inputs, define));
  }
  const manifest: PageManifest = { scripts: scripts as PageManifest['scripts'], style };
  await writeAtomically(manifestFile, JSON.stringify(manifest, null, 2));
  const files = [...inputs].sort();
  await writeAtomically(
    inputsFile,
    JSON.stringify({ digest: await computeDigest(files), files } satisfies BuildInputs, null, 2),
  );
  return manifest;
}

/**
 * Bundles a file with esbuild.
 *
 * @param inputs set to which this function adds the input files
 */
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

async function readManifestIfUpToDate(): Promise<PageManifest | undefined> {
  const [manifest, inputs] = await Promise.all([
    readJson<PageManifest>(manifestFile),
    readJson<BuildInputs>(inputsFile),
  ]);
  return manifest && inputs && (await computeDigest(inputs.files)) === inputs.digest ? manifest : undefined;
}

/** Digest of names and contents. It also changes if a file is deleted. */
async function computeDigest(files: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const file of files) {
    const content = await readFile(join(workspace, file)).catch(() => 'deleted');
    hash.update(`${file}\0`).update(createHash('sha256').update(content).digest());
  }
  return hash.digest('hex');
}

function createAsset(bytes: Uint8Array): PageAsset {
  const content = Buffer.from(bytes).toString();
  return { content, integrity: `sha384-${createHash('sha384').update(content).digest('base64')}` };
}

/** Writes a temporary file and renames it, so that a concurrent build or server never reads half a file. */
async function writeAtomically(file: string, content: string | Uint8Array): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const temporary = `${file}.${process.pid}.tmp`;
  await writeFile(temporary, content);
  await rename(temporary, file);
}

async function readJson<T>(file: string): Promise<T | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as T;
  } catch {
    return undefined;
  }
}

async function main(): Promise<void> {
  const { scripts } = await buildPage();
  console.log(
    `page: ${Object.values(scripts).reduce((sum, { content }) => sum + content.length, 0)} characters of scripts`,
  );
}

// Without an await, because Jest compiles this file to CommonJS for tests that import it.
if (import.meta.main) void main();
