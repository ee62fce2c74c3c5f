import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { Messages } from '../src/languages/en.js';
import { LANGUAGES } from '../src/languages/languages.js';
import type { PageAssets } from '../src/page-views/pay-page-model.js';
import { textsOf } from '../test/messages.js';
import { scriptMessages } from './script-messages.js';

const app = join(process.cwd(), 'apps/hosted-gateway');
const out = join(app, 'dist/pay-assets');
const run = () => promisify(execFile)(process.execPath, [join(app, 'browser/build.ts')]);

describe("the page's build", () => {
  it('names its files by their content and gives their integrity, and does nothing the second time', async () => {
    await run();
    const manifest = JSON.parse(await readFile(join(out, 'manifest.json'), 'utf8')) as PageAssets;
    const written = await stat(join(out, 'manifest.json'));

    const integrityOf = (content: string): string => `sha384-${createHash('sha384').update(content).digest('base64')}`;
    expect(manifest.style.integrity).toBe(integrityOf(manifest.style.content));
    for (const { file, integrity } of Object.values(manifest.scripts)) {
      const content = await readFile(join(out, file));
      const digest = createHash('sha384').update(content).digest();
      expect(integrity).toBe(`sha384-${digest.toString('base64')}`);
      expect(brotliDecompressSync(await readFile(join(out, `${file}.br`)))).toEqual(content);
      expect(gunzipSync(await readFile(join(out, `${file}.gz`)))).toEqual(content);
      expect(file).toBe(`pay-${digest.toString('hex').slice(0, 16)}.js`);
    }

    await run();
    expect((await stat(join(out, 'manifest.json'))).mtimeMs).toBe(written.mtimeMs);
    expect((await readdir(out)).filter((file) => file.endsWith('.tmp'))).toEqual([]);
  });

  it.each(LANGUAGES)(
    'stays small enough for a phone on a slow network in $tag, and needs neither Node.js nor another origin',
    async ({ tag }) => {
      await run();
      const manifest = JSON.parse(await readFile(join(out, 'manifest.json'), 'utf8')) as PageAssets;
      const { file } = manifest.scripts[tag];
      const style = manifest.style.content;
      const [script, compressed] = await Promise.all([
        readFile(join(out, file), 'utf8'),
        readFile(join(out, `${file}.br`)),
      ]);
      expect(compressed.length).toBeLessThan(16 * 1024);
      // In each page, as it is.
      expect(style.length).toBeLessThan(14 * 1024);
      expect(script).not.toMatch(/node:|\brequire\(|\beval\(|new Function|https?:\/\//);
      expect(style).not.toMatch(/@import|url\(|<\//);
    },
  );

  it.each(LANGUAGES)(
    'says in $tag what the script says, and nothing in another language',
    async ({ tag, messages }) => {
      await run();
      const manifest = JSON.parse(await readFile(join(out, 'manifest.json'), 'utf8')) as PageAssets;
      const script = await readFile(join(out, manifest.scripts[tag].file), 'utf8');
      const sentences = (of: Messages): string[] => textsOf(scriptMessages(of)).filter((text) => text.length > 20);
      const own = sentences(messages);
      const ofOthers = LANGUAGES.filter((each) => each.tag !== tag).flatMap((each) => sentences(each.messages));
      expect(own.filter((text) => !script.includes(text))).toEqual([]);
      expect(ofOthers.filter((text) => !own.includes(text) && script.includes(text))).toEqual([]);
    },
  );
});
