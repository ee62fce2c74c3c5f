import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import type { Messages } from '../src/languages/en.js';
import { LANGUAGES } from '../src/languages/languages.js';
import type { PageManifest } from '../src/page-views/pay-page-model.js';
import { textsOf } from '../test/messages.js';
import { scriptMessages } from './script-messages.js';

const app = join(process.cwd(), 'apps/hosted-gateway');
const out = join(app, 'dist/pay-assets');
const run = () => promisify(execFile)(process.execPath, [join(app, 'browser/build.ts')]);
const built = async (): Promise<PageManifest> => {
  await run();
  return JSON.parse(await readFile(join(out, 'manifest.json'), 'utf8')) as PageManifest;
};
const bytesOf = (text: string): number => gzipSync(text, { level: 9 }).length;

describe("the page's build", () => {
  it('computes the hash of each part, and writes nothing the second time', async () => {
    const { scripts, style } = await built();
    const written = await stat(join(out, 'manifest.json'));
    for (const { content, integrity } of [style, ...Object.values(scripts)])
      expect(integrity).toBe(`sha384-${createHash('sha384').update(content).digest('base64')}`);
    await run();
    expect((await stat(join(out, 'manifest.json'))).mtimeMs).toBe(written.mtimeMs);
    expect((await readdir(out)).filter((file) => file.endsWith('.tmp'))).toEqual([]);
  });

  it.each(LANGUAGES)(
    'stays small enough for a phone on a slow network in $tag, and needs neither Node.js nor another origin',
    async ({ tag }) => {
      const { scripts, style } = await built();
      const script = scripts[tag].content;
      // 400 kbit/s: 20 ms for each KB.
      expect(bytesOf(script)).toBeLessThan(19 * 1024);
      expect(bytesOf(style.content)).toBeLessThan(3.5 * 1024);
      expect(script).not.toMatch(/node:|\brequire\(|\beval\(|new Function|https?:\/\//);
      // Text that would close the script or style element, or open a comment inside it.
      expect(script).not.toMatch(/<\/script|<!--/i);
      expect(style.content).not.toMatch(/@import|url\(|<\//);
    },
  );

  it.each(LANGUAGES)(
    'contains all messages of the script in $tag, and none in another language',
    async ({ tag, messages }) => {
      const script = (await built()).scripts[tag].content;
      const sentences = (of: Messages): string[] => textsOf(scriptMessages(of)).filter((text) => text.length > 20);
      const own = sentences(messages);
      const ofOthers = LANGUAGES.filter((each) => each.tag !== tag).flatMap((each) => sentences(each.messages));
      expect(own.filter((text) => !script.includes(text))).toEqual([]);
      expect(ofOthers.filter((text) => !own.includes(text) && script.includes(text))).toEqual([]);
    },
  );
});
